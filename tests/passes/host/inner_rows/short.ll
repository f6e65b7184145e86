; opt=3 before=joined_blocks
; One guard and two checks are not worth a second version.
define internal void @k.thread(ptr nonnull align 8 dereferenceable(96) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  %0 = load ptr, ptr %launch, align 8, !invariant.load !0
  %1 = load ptr, ptr %0, align 8, !invariant.load !0, !pyptx.field !0
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %3 = load i32, ptr %2, align 4, !invariant.load !0, !pyptx.field !0
  %4 = zext nneg i32 %3 to i64
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %6 = load ptr, ptr %5, align 8, !invariant.load !0, !pyptx.field !0
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %8 = load i32, ptr %7, align 4, !invariant.load !0, !pyptx.field !0
  %9 = zext nneg i32 %8 to i64
  %10 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %11 = load i64, ptr %10, align 8, !invariant.load !0, !pyptx.field !0
  %12 = getelementptr inbounds nuw i8, ptr %launch, i64 20
  %13 = load i32, ptr %12, align 4, !range !1, !invariant.load !0, !pyptx.field !0
  %14 = zext nneg i32 %13 to i64
  %15 = zext nneg i32 %bx to i64
  %16 = mul nuw nsw i64 %15, %14
  %17 = zext nneg i32 %tx to i64
  %18 = add nuw nsw i64 %16, %17
  %19 = icmp slt i64 %18, %11
  br i1 %19, label %b1, label %b2

b1:                                               ; preds = %entry
  %20 = icmp samesign ult i64 %18, %4
  br i1 %20, label %ok, label %stop, !prof !2

b2:                                               ; preds = %ok1, %entry
  ret void

ok:                                               ; preds = %b1
  %21 = icmp samesign ult i64 %18, %9
  br i1 %21, label %ok1, label %stop2, !prof !2

stop:                                             ; preds = %b1
  call void @rt_host_trap(ptr nonnull %launch, i32 0, i64 %block, i32 %t, i64 %18, i64 %4, i64 0, i64 0)
  unreachable

ok1:                                              ; preds = %ok
  %22 = getelementptr inbounds nuw float, ptr %1, i64 %18
  %23 = load float, ptr %22, align 4
  %24 = getelementptr inbounds nuw float, ptr %6, i64 %18
  store float %23, ptr %24, align 4
  br label %b2

stop2:                                            ; preds = %ok
  call void @rt_host_trap(ptr nonnull %launch, i32 1, i64 %block, i32 %t, i64 %18, i64 %9, i64 0, i64 0)
  unreachable
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

attributes #0 = { alwaysinline nounwind }
attributes #1 = { cold noreturn nounwind }

!0 = !{}
!1 = !{i32 1, i32 1025}
!2 = !{!"branch_weights", i32 1048576, i32 1}
