; opt=3 before=fission
; The bound of the loop is the least number of a warp: all lanes have it, and vote in each iteration.
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
  %15 = phi i32 [ %38, %ok ], [ %30, %b2 ]
  %16 = phi i64 [ 0, %ok ], [ %22, %b2 ]
  %17 = icmp samesign ult i64 %16, 5
  br i1 %17, label %b2, label %b3

b2:                                               ; preds = %b1
  %18 = icmp eq i64 %16, 3
  %19 = icmp eq i64 %16, 2
  %20 = icmp eq i64 %16, 1
  %21 = icmp eq i64 %16, 0
  %22 = add nuw nsw i64 %16, 1
  %23 = select i1 %18, i32 2, i32 1
  %24 = select i1 %19, i32 4, i32 %23
  %25 = select i1 %20, i32 8, i32 %24
  %26 = select i1 %21, i32 16, i32 %25
  %27 = zext i32 %15 to i64
  %28 = call i64 @pyptx.meet(i32 7, i32 3, i32 -1, i64 %27, i32 %26)
  %29 = trunc i64 %28 to i32
  %30 = call i32 @llvm.smin.i32(i32 %15, i32 %29)
  br label %b1

b3:                                               ; preds = %b1
  %.lcssa5 = phi i32 [ %15, %b1 ]
  %31 = sext i32 %.lcssa5 to i64
  br label %b4

b4:                                               ; preds = %ok1, %b3
  %32 = phi float [ 0.000000e+00, %b3 ], [ %47, %ok1 ]
  %33 = phi i64 [ 0, %b3 ], [ %39, %ok1 ]
  %34 = icmp slt i64 %33, %31
  br i1 %34, label %ok1, label %b6

b6:                                               ; preds = %b4
  %.lcssa = phi float [ %32, %b4 ]
  %35 = icmp samesign ult i64 %13, %6
  br i1 %35, label %ok3, label %stop4, !prof !2

ok:                                               ; preds = %entry
  %36 = load ptr, ptr %0, align 8, !invariant.load !0, !pyptx.field !0
  %37 = getelementptr inbounds nuw i32, ptr %36, i64 %13
  %38 = load i32, ptr %37, align 4
  br label %b1

stop:                                             ; preds = %entry
  call void @rt_host_trap(ptr nonnull %launch, i32 0, i64 %block, i32 %t, i64 %13, i64 %3, i64 0, i64 0)
  unreachable

ok1:                                              ; preds = %b4
  %39 = add nuw nsw i64 %33, 1
  %40 = load i32, ptr %37, align 4
  %41 = sext i32 %40 to i64
  %42 = icmp slt i64 %33, %41
  %43 = zext i1 %42 to i64
  %44 = call i64 @pyptx.meet(i32 11, i32 5, i32 -1, i64 %43, i32 0)
  %45 = trunc i64 %44 to i32
  %46 = uitofp i32 %45 to float
  %47 = fadd contract float %32, %46
  br label %b4

ok3:                                              ; preds = %b6
  %48 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %49 = load ptr, ptr %48, align 8, !invariant.load !0, !pyptx.field !0
  %50 = getelementptr inbounds nuw float, ptr %49, i64 %13
  store float %.lcssa, ptr %50, align 4
  ret void

stop4:                                            ; preds = %b6
  call void @rt_host_trap(ptr nonnull %launch, i32 2, i64 %block, i32 %t, i64 %13, i64 %6, i64 0, i64 0)
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
