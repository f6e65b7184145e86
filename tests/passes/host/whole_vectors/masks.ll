; opt=3 before=fission shared=512
define internal void @k.thread(ptr nonnull align 8 dereferenceable(96) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  %0 = load ptr, ptr %launch, align 8, !invariant.load !0
  %1 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %2 = load i32, ptr %1, align 4, !invariant.load !0, !pyptx.field !0
  %3 = zext nneg i32 %2 to i64
  %4 = getelementptr inbounds nuw i8, ptr %launch, i64 40
  %5 = load ptr, ptr %4, align 8, !invariant.load !0, !pyptx.field !0
  %6 = zext nneg i32 %tx to i64
  %7 = icmp ult i32 %tx, %2
  br i1 %7, label %ok, label %stop, !prof !1

b1:                                               ; preds = %ok7, %ok1
  %8 = phi i64 [ 1, %ok1 ], [ %39, %ok7 ]
  %9 = lshr i64 %3, 1
  %.not = icmp sgt i64 %8, %9
  br i1 %.not, label %ok15, label %b2

b2:                                               ; preds = %b1
  %10 = mul i64 %8, 3
  %11 = add i64 %10, %6
  %12 = shl nuw nsw i64 %6, 1
  %13 = add i64 %8, 127
  %14 = and i64 %13, %6
  %15 = sub nsw i64 %12, %14
  %16 = icmp ult i64 %15, 128
  br i1 %16, label %ok3, label %stop4, !prof !1

ok:                                               ; preds = %entry
  %17 = load ptr, ptr %0, align 8, !invariant.load !0, !pyptx.field !0
  %18 = getelementptr inbounds nuw i32, ptr %17, i64 %6
  %19 = icmp ult i32 %tx, 128
  br i1 %19, label %ok1, label %stop2, !prof !1

stop:                                             ; preds = %entry
  call void @rt_host_trap(ptr nonnull %launch, i32 0, i64 %block, i32 %t, i64 %6, i64 %3, i64 0, i64 0)
  unreachable

ok1:                                              ; preds = %ok
  %20 = load i32, ptr %18, align 4
  %21 = getelementptr inbounds nuw i32, ptr %5, i64 %6
  store i32 %20, ptr %21, align 4
  %22 = call i32 @pyptx.barrier(i32 0, i1 false)
  br label %b1

stop2:                                            ; preds = %ok
  call void @rt_host_trap(ptr nonnull %launch, i32 1, i64 %block, i32 %t, i64 %6, i64 128, i64 0, i64 0)
  unreachable

ok3:                                              ; preds = %b2
  %23 = add i64 %15, %8
  %24 = icmp ult i64 %23, 128
  br i1 %24, label %ok7, label %stop6, !prof !1

stop4:                                            ; preds = %b2
  %.lcssa = phi i64 [ %15, %b2 ]
  call void @rt_host_trap(ptr nonnull %launch, i32 2, i64 %block, i32 %t, i64 %.lcssa, i64 128, i64 0, i64 0)
  unreachable

stop6:                                            ; preds = %ok3
  %.lcssa18 = phi i64 [ %23, %ok3 ]
  %25 = icmp slt i64 %.lcssa18, 0
  %26 = add i64 %.lcssa18, -128
  %27 = select i1 %25, i64 %26, i64 %.lcssa18
  call void @rt_host_trap(ptr nonnull %launch, i32 3, i64 %block, i32 %t, i64 %27, i64 128, i64 0, i64 0)
  unreachable

ok7:                                              ; preds = %ok3
  %28 = getelementptr inbounds nuw i32, ptr %5, i64 %15
  %29 = load i32, ptr %28, align 4
  %30 = getelementptr inbounds nuw i32, ptr %5, i64 %23
  %31 = load i32, ptr %30, align 4
  %32 = add i32 %29, %31
  store i32 %32, ptr %28, align 4
  %33 = call i32 @pyptx.barrier(i32 0, i1 false)
  %34 = and i64 %11, 127
  %35 = getelementptr inbounds nuw i32, ptr %5, i64 %34
  %36 = load i32, ptr %35, align 4
  %37 = add i32 %36, 1
  store i32 %37, ptr %35, align 4
  %38 = call i32 @pyptx.barrier(i32 0, i1 false)
  %39 = shl i64 %8, 1
  br label %b1

ok15:                                             ; preds = %b1
  %40 = load i32, ptr %21, align 4
  store i32 %40, ptr %18, align 4
  ret void
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

declare i32 @pyptx.barrier(i32, i1) #2

attributes #0 = { nounwind }
attributes #1 = { cold noreturn nounwind }
attributes #2 = { convergent nounwind }

!0 = !{}
!1 = !{!"branch_weights", i32 1048576, i32 1}
