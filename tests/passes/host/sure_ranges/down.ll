; opt=3
; A range that goes down.
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
  %11 = load ptr, ptr %10, align 8, !invariant.load !0, !pyptx.field !0
  %12 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %13 = load i32, ptr %12, align 4, !invariant.load !0, !pyptx.field !0
  %14 = zext nneg i32 %13 to i64
  %15 = getelementptr inbounds nuw i8, ptr %launch, i64 20
  %16 = load i32, ptr %15, align 4, !range !1, !invariant.load !0, !pyptx.field !0
  %17 = zext nneg i32 %16 to i64
  %18 = zext nneg i32 %bx to i64
  %19 = mul nuw nsw i64 %18, %17
  %20 = zext nneg i32 %tx to i64
  %21 = add nuw nsw i64 %19, %20
  %22 = icmp samesign ult i64 %21, %9
  br i1 %22, label %ok, label %stop, !prof !2

b1:                                               ; preds = %ok7, %ok1
  %23 = phi i64 [ %33, %ok1 ], [ %25, %ok7 ]
  %24 = icmp sgt i64 %23, %36
  br i1 %24, label %b2, label %b3

b2:                                               ; preds = %b1
  %25 = add nsw i64 %23, -1
  %26 = icmp slt i64 %23, 0
  %27 = select i1 %26, i64 %14, i64 0
  %28 = add i64 %23, %27
  %29 = icmp ult i64 %28, %14
  br i1 %29, label %ok3, label %stop4, !prof !2

b3:                                               ; preds = %b1
  ret void

ok:                                               ; preds = %entry
  %30 = icmp samesign ult i64 %21, %4
  br i1 %30, label %ok1, label %stop2, !prof !2

stop:                                             ; preds = %entry
  call void @rt_host_trap(ptr nonnull %launch, i32 0, i64 %block, i32 %t, i64 %21, i64 %9, i64 0, i64 0)
  unreachable

ok1:                                              ; preds = %ok
  %31 = getelementptr inbounds nuw i64, ptr %6, i64 %21
  %32 = load i64, ptr %31, align 8
  %33 = add i64 %32, -2
  %34 = getelementptr inbounds nuw i64, ptr %1, i64 %21
  %35 = load i64, ptr %34, align 8
  %36 = add i64 %35, -1
  br label %b1

stop2:                                            ; preds = %ok
  call void @rt_host_trap(ptr nonnull %launch, i32 1, i64 %block, i32 %t, i64 %21, i64 %4, i64 0, i64 0)
  unreachable

ok3:                                              ; preds = %b2
  %37 = getelementptr inbounds i32, ptr %11, i64 %28
  %38 = add i64 %23, 1
  %39 = icmp slt i64 %38, 0
  %40 = select i1 %39, i64 %14, i64 0
  %41 = add i64 %38, %40
  %42 = icmp ult i64 %41, %14
  br i1 %42, label %ok7, label %stop6, !prof !2

stop4:                                            ; preds = %b2
  %.lcssa = phi i64 [ %28, %b2 ]
  %43 = icmp slt i64 %.lcssa, 0
  %44 = select i1 %43, i64 %14, i64 0
  %45 = sub nuw i64 %.lcssa, %44
  call void @rt_host_trap(ptr nonnull %launch, i32 2, i64 %block, i32 %t, i64 %45, i64 %14, i64 0, i64 0)
  unreachable

stop6:                                            ; preds = %ok3
  %.lcssa10 = phi i64 [ %41, %ok3 ]
  %46 = icmp slt i64 %.lcssa10, 0
  %47 = select i1 %46, i64 %14, i64 0
  %48 = sub nuw i64 %.lcssa10, %47
  call void @rt_host_trap(ptr nonnull %launch, i32 3, i64 %block, i32 %t, i64 %48, i64 %14, i64 0, i64 0)
  unreachable

ok7:                                              ; preds = %ok3
  %49 = getelementptr inbounds i32, ptr %11, i64 %41
  %50 = load i32, ptr %49, align 4
  %51 = load i32, ptr %37, align 4
  %52 = call i32 @llvm.smax.i32(i32 %50, i32 %51)
  store i32 %52, ptr %37, align 4
  br label %b1
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

declare i32 @llvm.smax.i32(i32, i32) #2

attributes #0 = { alwaysinline nounwind }
attributes #1 = { cold noreturn nounwind }
attributes #2 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }

!0 = !{}
!1 = !{i32 1, i32 1025}
!2 = !{!"branch_weights", i32 1048576, i32 1}
