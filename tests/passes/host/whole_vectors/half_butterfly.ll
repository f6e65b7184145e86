; opt=3 before=fission
; Lanes whose numbers differ in bit 1 have not exchanged anything: the bound varies.
define internal void @k.thread(ptr nonnull align 8 dereferenceable(96) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
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
  %14 = icmp samesign ult i64 %13, %3
  br i1 %14, label %ok, label %stop, !prof !2

b1:                                               ; preds = %b2, %ok
  %15 = phi i32 [ %39, %ok ], [ %28, %b2 ]
  %16 = phi i64 [ 0, %ok ], [ %21, %b2 ]
  %17 = icmp samesign ult i64 %16, 4
  br i1 %17, label %b2, label %b3

b2:                                               ; preds = %b1
  %18 = icmp eq i64 %16, 2
  %19 = icmp eq i64 %16, 1
  %20 = icmp eq i64 %16, 0
  %21 = add nuw nsw i64 %16, 1
  %22 = select i1 %18, i32 4, i32 1
  %23 = select i1 %19, i32 8, i32 %22
  %24 = select i1 %20, i32 16, i32 %23
  %25 = zext i32 %15 to i64
  %26 = call i64 @pyptx.meet(i32 7, i32 2, i32 -1, i64 %25, i32 %24)
  %27 = trunc i64 %26 to i32
  %28 = call i32 @llvm.smin.i32(i32 %15, i32 %27)
  br label %b1

b3:                                               ; preds = %b1
  %.lcssa3 = phi i32 [ %15, %b1 ]
  %29 = sext i32 %.lcssa3 to i64
  br label %b4

b4:                                               ; preds = %b5, %b3
  %30 = phi float [ 0.000000e+00, %b3 ], [ %35, %b5 ]
  %31 = phi i64 [ 0, %b3 ], [ %33, %b5 ]
  %32 = icmp slt i64 %31, %29
  br i1 %32, label %b5, label %b6

b5:                                               ; preds = %b4
  %33 = add nuw nsw i64 %31, 1
  %34 = uitofp nneg i64 %31 to float
  %35 = fadd contract float %30, %34
  br label %b4

b6:                                               ; preds = %b4
  %.lcssa = phi float [ %30, %b4 ]
  %36 = icmp samesign ult i64 %13, %6
  br i1 %36, label %ok1, label %stop2, !prof !2

ok:                                               ; preds = %entry
  %37 = load ptr, ptr %0, align 8, !invariant.load !0, !pyptx.field !0
  %38 = getelementptr inbounds nuw i32, ptr %37, i64 %13
  %39 = load i32, ptr %38, align 4
  br label %b1

stop:                                             ; preds = %entry
  call void @rt_host_trap(ptr nonnull %launch, i32 0, i64 %block, i32 %t, i64 %13, i64 %3, i64 0, i64 0)
  unreachable

ok1:                                              ; preds = %b6
  %40 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %41 = load ptr, ptr %40, align 8, !invariant.load !0, !pyptx.field !0
  %42 = getelementptr inbounds nuw float, ptr %41, i64 %13
  store float %.lcssa, ptr %42, align 4
  ret void

stop2:                                            ; preds = %b6
  call void @rt_host_trap(ptr nonnull %launch, i32 1, i64 %block, i32 %t, i64 %13, i64 %6, i64 0, i64 0)
  unreachable
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

declare i64 @pyptx.meet(i32, i32, i32, i64, i32) #2

declare i32 @llvm.smin.i32(i32, i32) #3

attributes #0 = { nounwind }
attributes #1 = { cold noreturn nounwind }
attributes #2 = { convergent nomerge nounwind }
attributes #3 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }

!0 = !{}
!1 = !{i32 1, i32 1025}
!2 = !{!"branch_weights", i32 1048576, i32 1}
