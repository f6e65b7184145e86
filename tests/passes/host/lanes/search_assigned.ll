; opt=3
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

b1:                                               ; preds = %ok
  %23 = icmp samesign ult i64 %21, %14
  br i1 %23, label %ok3, label %stop2, !prof !2

b2:                                               ; preds = %b3, %ok3
  %24 = phi i64 [ -1, %ok3 ], [ %21, %b3 ]
  %.in = phi i64 [ %33, %ok3 ], [ %27, %b3 ]
  %25 = add nsw i64 %34, -11
  %26 = icmp sgt i64 %.in, %25
  br i1 %26, label %b3, label %b4

b3:                                               ; preds = %b2
  %27 = add nsw i64 %.in, -1
  br label %b2

b4:                                               ; preds = %b2
  %.lcssa = phi i64 [ %24, %b2 ]
  %28 = icmp samesign ult i64 %21, %9
  br i1 %28, label %ok5, label %stop6, !prof !2

b5:                                               ; preds = %ok5, %ok
  ret void

ok:                                               ; preds = %entry
  %29 = getelementptr inbounds nuw i64, ptr %1, i64 %21
  %30 = load i64, ptr %29, align 8
  %.not = icmp eq i64 %30, 0
  br i1 %.not, label %b1, label %b5

stop:                                             ; preds = %entry
  call void @rt_host_trap_in_line(ptr %launch, i32 0, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %21, i64 %4, i64 0, i64 0)
  unreachable

stop2:                                            ; preds = %b1
  call void @rt_host_trap_in_line(ptr %launch, i32 1, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %21, i64 %14, i64 0, i64 0)
  unreachable

ok3:                                              ; preds = %b1
  %31 = getelementptr inbounds nuw i16, ptr %11, i64 %21
  %32 = load i16, ptr %31, align 2
  %33 = zext i16 %32 to i64
  %34 = call i64 @llvm.smax.i64(i64 %33, i64 11)
  br label %b2

ok5:                                              ; preds = %b4
  %35 = getelementptr inbounds nuw i64, ptr %6, i64 %21
  store i64 %.lcssa, ptr %35, align 8
  br label %b5

stop6:                                            ; preds = %b4
  call void @rt_host_trap_in_line(ptr %launch, i32 3, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %21, i64 %9, i64 0, i64 0)
  unreachable
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

declare i64 @llvm.smax.i64(i64, i64) #2

declare void @rt_host_trap_in_line(ptr, i32, i32, i32, i32, i32, i32, i64, i64, i64, i64) #3

attributes #0 = { alwaysinline nounwind }
attributes #1 = { cold noreturn nounwind }
attributes #2 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #3 = { cold noreturn }

!0 = !{}
!1 = !{i32 1, i32 1025}
!2 = !{!"branch_weights", i32 1048576, i32 1}
