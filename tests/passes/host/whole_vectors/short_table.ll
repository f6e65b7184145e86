; shared=100 before=fission vbmi
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
  br label %b1

b1:                                               ; preds = %ok3, %entry
  %19 = phi i64 [ %15, %entry ], [ %24, %ok3 ]
  %20 = icmp samesign ult i64 %19, 100
  br i1 %20, label %b2, label %b3

b2:                                               ; preds = %b1
  %21 = icmp samesign ult i64 %19, %4
  br i1 %21, label %ok3, label %stop2, !prof !2

b3:                                               ; preds = %b1
  %22 = call i32 @pyptx.barrier(i32 0, i1 false)
  %23 = icmp ult i32 %tx, %8
  br i1 %23, label %ok5, label %b5

b5:                                               ; preds = %ok9, %b3
  ret void

stop2:                                            ; preds = %b2
  %.lcssa11 = phi i64 [ %19, %b2 ]
  call void @rt_host_trap(ptr nonnull %launch, i32 1, i64 %block, i32 %t, i64 %.lcssa11, i64 %4, i64 0, i64 0)
  unreachable

ok3:                                              ; preds = %b2
  %24 = add nuw nsw i64 %19, %18
  %25 = getelementptr inbounds nuw i8, ptr %1, i64 %19
  %26 = load i8, ptr %25, align 1
  %27 = getelementptr inbounds nuw i8, ptr %14, i64 %19
  store i8 %26, ptr %27, align 1
  br label %b1

ok5:                                              ; preds = %b3
  %28 = getelementptr inbounds nuw i32, ptr %6, i64 %15
  %29 = load i32, ptr %28, align 4
  %30 = sext i32 %29 to i64
  %31 = icmp slt i32 %29, 0
  %32 = add nsw i64 %30, 100
  %33 = select i1 %31, i64 %32, i64 %30
  %34 = icmp ult i64 %33, 100
  br i1 %34, label %ok7, label %stop8, !prof !2

ok7:                                              ; preds = %ok5
  %35 = icmp ult i32 %tx, %12
  br i1 %35, label %ok9, label %stop10, !prof !2

stop8:                                            ; preds = %ok5
  %36 = icmp slt i64 %33, 0
  %37 = add nsw i64 %33, -100
  %38 = select i1 %36, i64 %37, i64 %33
  call void @rt_host_trap(ptr nonnull %launch, i32 4, i64 %block, i32 %t, i64 %38, i64 100, i64 0, i64 0)
  unreachable

ok9:                                              ; preds = %ok7
  %39 = getelementptr inbounds nuw i8, ptr %14, i64 %33
  %40 = load i8, ptr %39, align 1
  %41 = zext i8 %40 to i32
  %42 = getelementptr inbounds nuw i32, ptr %10, i64 %15
  store i32 %41, ptr %42, align 4
  br label %b5

stop10:                                           ; preds = %ok7
  %43 = zext nneg i32 %12 to i64
  call void @rt_host_trap(ptr nonnull %launch, i32 5, i64 %block, i32 %t, i64 %15, i64 %43, i64 0, i64 0)
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
