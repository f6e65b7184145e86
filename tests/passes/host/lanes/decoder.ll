; opt=3
define internal void @k.thread(ptr nonnull align 8 dereferenceable(72) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
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
  %10 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %11 = load i32, ptr %10, align 4, !invariant.load !0, !pyptx.field !0
  %12 = zext nneg i32 %11 to i64
  %13 = getelementptr inbounds nuw i8, ptr %launch, i64 20
  %14 = load i32, ptr %13, align 4, !range !1, !invariant.load !0, !pyptx.field !0
  %15 = zext nneg i32 %14 to i64
  %16 = zext nneg i32 %bx to i64
  %17 = mul nuw nsw i64 %16, %15
  %18 = zext nneg i32 %tx to i64
  %19 = add nuw nsw i64 %17, %18
  %20 = icmp samesign ult i64 %19, %9
  br i1 %20, label %ok, label %stop, !prof !2

b1:                                               ; preds = %ok3, %ok
  %21 = phi i8 [ 0, %ok ], [ %38, %ok3 ]
  %22 = phi i32 [ %30, %ok ], [ %39, %ok3 ]
  %23 = sext i32 %22 to i64
  %24 = icmp slt i32 %22, 0
  %25 = select i1 %24, i64 %4, i64 0
  %26 = add nsw i64 %25, %23
  %27 = icmp ult i64 %26, %4
  br i1 %27, label %ok1, label %stop2, !prof !2

b3:                                               ; preds = %ok1
  %.lcssa9 = phi i8 [ %21, %ok1 ]
  %28 = icmp samesign ult i64 %19, %12
  br i1 %28, label %ok5, label %stop6, !prof !2

ok:                                               ; preds = %entry
  %29 = getelementptr inbounds nuw i32, ptr %6, i64 %19
  %30 = load i32, ptr %29, align 4
  br label %b1

stop:                                             ; preds = %entry
  call void @rt_host_trap(ptr nonnull %launch, i32 0, i64 %block, i32 %t, i64 %19, i64 %9, i64 0, i64 0)
  unreachable

ok1:                                              ; preds = %b1
  %31 = getelementptr inbounds i8, ptr %1, i64 %26
  %32 = load i8, ptr %31, align 1
  %33 = icmp slt i8 %32, 0
  br i1 %33, label %ok3, label %b3

stop2:                                            ; preds = %b1
  %.lcssa = phi i64 [ %26, %b1 ]
  %34 = icmp slt i64 %.lcssa, 0
  %35 = select i1 %34, i64 %4, i64 0
  %36 = sub nuw nsw i64 %.lcssa, %35
  call void @rt_host_trap(ptr nonnull %launch, i32 1, i64 %block, i32 %t, i64 %36, i64 %4, i64 0, i64 0)
  unreachable

ok3:                                              ; preds = %ok1
  %37 = shl i8 %21, 7
  %38 = add i8 %37, %32
  %39 = add i32 %22, 1
  br label %b1

ok5:                                              ; preds = %b3
  %40 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %41 = load ptr, ptr %40, align 8, !invariant.load !0, !pyptx.field !0
  %42 = zext i8 %.lcssa9 to i64
  %43 = getelementptr inbounds nuw i64, ptr %41, i64 %19
  store i64 %42, ptr %43, align 8
  ret void

stop6:                                            ; preds = %b3
  call void @rt_host_trap(ptr nonnull %launch, i32 3, i64 %block, i32 %t, i64 %19, i64 %12, i64 0, i64 0)
  unreachable
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

attributes #0 = { alwaysinline nounwind }
attributes #1 = { cold noreturn nounwind }

!0 = !{}
!1 = !{i32 1, i32 1025}
!2 = !{!"branch_weights", i32 1048576, i32 1}
