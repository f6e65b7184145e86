; opt=3
; LLVM counts from `first`, and compares one more with the end.
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
  %22 = icmp samesign ult i64 %21, %4
  br i1 %22, label %ok, label %stop, !prof !2

b1:                                               ; preds = %ok7, %ok1
  %.in = phi i64 [ %31, %ok1 ], [ %23, %ok7 ]
  %23 = add i64 %.in, 1
  %24 = icmp slt i64 %23, %33
  br i1 %24, label %b2, label %b3

b2:                                               ; preds = %b1
  %25 = icmp slt i64 %23, 0
  %26 = select i1 %25, i64 %14, i64 0
  %27 = add i64 %23, %26
  %28 = icmp ult i64 %27, %14
  br i1 %28, label %ok3, label %stop4, !prof !2

b3:                                               ; preds = %b1
  ret void

ok:                                               ; preds = %entry
  %29 = icmp samesign ult i64 %21, %9
  br i1 %29, label %ok1, label %stop2, !prof !2

stop:                                             ; preds = %entry
  call void @rt_host_trap(ptr nonnull %launch, i32 0, i64 %block, i32 %t, i64 %21, i64 %4, i64 0, i64 0)
  unreachable

ok1:                                              ; preds = %ok
  %30 = getelementptr inbounds nuw i64, ptr %1, i64 %21
  %31 = load i64, ptr %30, align 8
  %32 = getelementptr inbounds nuw i64, ptr %6, i64 %21
  %33 = load i64, ptr %32, align 8
  br label %b1

stop2:                                            ; preds = %ok
  call void @rt_host_trap(ptr nonnull %launch, i32 1, i64 %block, i32 %t, i64 %21, i64 %9, i64 0, i64 0)
  unreachable

ok3:                                              ; preds = %b2
  %34 = getelementptr inbounds i32, ptr %11, i64 %27
  %35 = icmp slt i64 %.in, 0
  %36 = select i1 %35, i64 %14, i64 0
  %37 = add i64 %.in, %36
  %38 = icmp ult i64 %37, %14
  br i1 %38, label %ok7, label %stop6, !prof !2

stop4:                                            ; preds = %b2
  %.lcssa = phi i64 [ %27, %b2 ]
  %39 = icmp slt i64 %.lcssa, 0
  %40 = select i1 %39, i64 %14, i64 0
  %41 = sub nuw i64 %.lcssa, %40
  call void @rt_host_trap(ptr nonnull %launch, i32 2, i64 %block, i32 %t, i64 %41, i64 %14, i64 0, i64 0)
  unreachable

stop6:                                            ; preds = %ok3
  %.lcssa10 = phi i64 [ %37, %ok3 ]
  %42 = icmp slt i64 %.lcssa10, 0
  %43 = select i1 %42, i64 %14, i64 0
  %44 = sub nuw i64 %.lcssa10, %43
  call void @rt_host_trap(ptr nonnull %launch, i32 3, i64 %block, i32 %t, i64 %44, i64 %14, i64 0, i64 0)
  unreachable

ok7:                                              ; preds = %ok3
  %45 = getelementptr inbounds i32, ptr %11, i64 %37
  %46 = load i32, ptr %45, align 4
  %47 = load i32, ptr %34, align 4
  %48 = call i32 @llvm.smax.i32(i32 %46, i32 %47)
  store i32 %48, ptr %34, align 4
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
