; shared=256 before=fission
; A vector of what is there says which lanes of a minimum or a maximum change it.
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
  %9 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %10 = load ptr, ptr %9, align 8, !invariant.load !0, !pyptx.field !0
  %11 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %12 = load i32, ptr %11, align 4, !invariant.load !0, !pyptx.field !0
  %13 = getelementptr inbounds nuw i8, ptr %launch, i64 40
  %14 = load ptr, ptr %13, align 8, !invariant.load !0, !pyptx.field !0
  %15 = zext nneg i32 %tx to i64
  %16 = getelementptr inbounds nuw i8, ptr %launch, i64 20
  %17 = load i32, ptr %16, align 4, !range !1, !invariant.load !0, !pyptx.field !0
  %18 = zext nneg i32 %17 to i64
  %19 = zext nneg i32 %bx to i64
  %20 = mul nuw nsw i64 %19, %18
  %21 = add nuw nsw i64 %20, %15
  %22 = icmp samesign ult i64 %21, %4
  br i1 %22, label %ok, label %stop, !prof !2

b1:                                               ; preds = %ok5
  %23 = icmp ult i32 %tx, %12
  br i1 %23, label %ok7, label %stop8, !prof !2

b2:                                               ; preds = %ok7, %ok5
  ret void

ok:                                               ; preds = %entry
  %24 = icmp ult i32 %tx, 64
  br i1 %24, label %ok1, label %stop2, !prof !2

stop:                                             ; preds = %entry
  call void @rt_host_trap(ptr nonnull %launch, i32 0, i64 %block, i32 %t, i64 %21, i64 %4, i64 0, i64 0)
  unreachable

ok1:                                              ; preds = %ok
  %25 = getelementptr inbounds nuw i32, ptr %1, i64 %21
  %26 = load i32, ptr %25, align 4
  %27 = getelementptr inbounds nuw i32, ptr %14, i64 %15
  store i32 %26, ptr %27, align 4
  %28 = call i32 @pyptx.barrier(i32 0, i1 false)
  %29 = sub nuw nsw i64 63, %15
  %30 = getelementptr inbounds nuw i32, ptr %14, i64 %29
  %31 = load i32, ptr %30, align 4
  %.not = icmp eq i32 %8, 0
  br i1 %.not, label %stop6, label %ok5, !prof !3

stop2:                                            ; preds = %ok
  call void @rt_host_trap(ptr nonnull %launch, i32 1, i64 %block, i32 %t, i64 %15, i64 64, i64 0, i64 0)
  unreachable

ok5:                                              ; preds = %ok1
  %32 = atomicrmw max ptr %6, i32 %31 monotonic, align 4
  %33 = icmp sgt i32 %31, 20
  br i1 %33, label %b1, label %b2

stop6:                                            ; preds = %ok1
  %34 = zext nneg i32 %8 to i64
  call void @rt_host_trap(ptr nonnull %launch, i32 3, i64 %block, i32 %t, i64 0, i64 %34, i64 0, i64 0)
  unreachable

ok7:                                              ; preds = %b1
  %35 = getelementptr inbounds nuw i32, ptr %10, i64 %15
  %36 = atomicrmw min ptr %35, i32 %31 monotonic, align 4
  br label %b2

stop8:                                            ; preds = %b1
  %37 = zext nneg i32 %12 to i64
  call void @rt_host_trap(ptr nonnull %launch, i32 4, i64 %block, i32 %t, i64 %15, i64 %37, i64 0, i64 0)
  unreachable
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

declare i32 @pyptx.barrier(i32, i1) #2

attributes #0 = { nounwind }
attributes #1 = { cold noreturn nounwind }
attributes #2 = { convergent nounwind }

!0 = !{}
!1 = !{i32 1, i32 1025}
!2 = !{!"branch_weights", i32 1048576, i32 1}
!3 = !{!"branch_weights", i32 1, i32 1048576}
