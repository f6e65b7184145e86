; opt=3
define internal void @k.thread(ptr nonnull align 8 dereferenceable(72) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  %0 = load ptr, ptr %launch, align 8, !invariant.load !0
  %1 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %2 = load i32, ptr %1, align 4, !invariant.load !0, !pyptx.field !0
  %3 = zext nneg i32 %2 to i64
  %4 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %5 = load i32, ptr %4, align 4, !invariant.load !0, !pyptx.field !0
  %6 = zext nneg i32 %5 to i64
  %7 = getelementptr inbounds nuw i8, ptr %launch, i64 20
  %8 = load i32, ptr %7, align 4, !range !1, !invariant.load !0, !pyptx.field !0
  %9 = zext nneg i32 %8 to i64
  %10 = zext nneg i32 %bx to i64
  %11 = mul nuw nsw i64 %10, %9
  %12 = zext nneg i32 %tx to i64
  %13 = add nuw nsw i64 %11, %12
  %14 = shl nuw nsw i64 %13, 1
  %15 = or disjoint i64 %14, 1
  %16 = icmp samesign ult i64 %15, %3
  br i1 %16, label %ok, label %stop, !prof !2

ok:                                               ; preds = %entry
  %17 = mul nuw nsw i64 %13, 3
  %18 = icmp samesign ult i64 %17, %3
  br i1 %18, label %ok1, label %stop2, !prof !2

stop:                                             ; preds = %entry
  call void @rt_host_trap(ptr nonnull %launch, i32 0, i64 %block, i32 %t, i64 %15, i64 %3, i64 0, i64 0)
  unreachable

ok1:                                              ; preds = %ok
  %19 = icmp samesign ult i64 %14, %6
  br i1 %19, label %ok3, label %stop4, !prof !2

stop2:                                            ; preds = %ok
  call void @rt_host_trap(ptr nonnull %launch, i32 1, i64 %block, i32 %t, i64 %17, i64 %3, i64 0, i64 0)
  unreachable

ok3:                                              ; preds = %ok1
  %20 = load ptr, ptr %0, align 8, !invariant.load !0, !pyptx.field !0
  %21 = getelementptr inbounds nuw float, ptr %20, i64 %15
  %22 = load float, ptr %21, align 4
  %23 = getelementptr inbounds nuw float, ptr %20, i64 %17
  %24 = load float, ptr %23, align 4
  %25 = fsub contract float %22, %24
  %26 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %27 = load ptr, ptr %26, align 8, !invariant.load !0, !pyptx.field !0
  %28 = getelementptr inbounds nuw float, ptr %27, i64 %14
  store float %25, ptr %28, align 4
  ret void

stop4:                                            ; preds = %ok1
  call void @rt_host_trap(ptr nonnull %launch, i32 2, i64 %block, i32 %t, i64 %14, i64 %6, i64 0, i64 0)
  unreachable
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

attributes #0 = { alwaysinline nounwind }
attributes #1 = { cold noreturn nounwind }

!0 = !{}
!1 = !{i32 1, i32 1025}
!2 = !{!"branch_weights", i32 1048576, i32 1}
