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
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %8 = load i32, ptr %7, align 4, !invariant.load !0, !pyptx.field !0
  %9 = zext nneg i32 %8 to i64
  %10 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %11 = load i32, ptr %10, align 4, !invariant.load !0, !pyptx.field !0
  %12 = zext nneg i32 %11 to i64
  %13 = getelementptr inbounds nuw i8, ptr %launch, i64 20
  %14 = load i32, ptr %13, align 4, !range !1, !invariant.load !0, !pyptx.field !0
  %15 = zext nneg i32 %14 to i64
  %16 = zext nneg i32 %bx to i64
  %17 = mul nuw nsw i64 %16, %15
  %18 = zext nneg i32 %tx to i64
  %19 = add nuw nsw i64 %17, %18
  %20 = add nuw nsw i64 %19, 1
  %21 = call i64 @llvm.umin.i64(i64 %20, i64 %12)
  br label %b1

b1:                                               ; preds = %ok1, %entry
  %22 = phi float [ 0.000000e+00, %entry ], [ %37, %ok1 ]
  %23 = phi i64 [ 0, %entry ], [ %25, %ok1 ]
  %24 = icmp samesign ult i64 %23, %21
  br i1 %24, label %b2, label %b3

b2:                                               ; preds = %b1
  %25 = add nuw nsw i64 %23, 1
  %26 = sub nsw i64 %19, %23
  %27 = icmp slt i64 %26, 0
  %28 = select i1 %27, i64 %4, i64 0
  %29 = add i64 %26, %28
  %30 = icmp ult i64 %29, %4
  br i1 %30, label %ok1, label %stop2, !prof !2

b3:                                               ; preds = %b1
  %.lcssa = phi float [ %22, %b1 ]
  %31 = icmp samesign ult i64 %19, %9
  br i1 %31, label %ok3, label %stop4, !prof !2

ok1:                                              ; preds = %b2
  %32 = getelementptr inbounds nuw float, ptr %6, i64 %23
  %33 = load float, ptr %32, align 4
  %34 = getelementptr inbounds float, ptr %1, i64 %29
  %35 = load float, ptr %34, align 4
  %36 = fmul contract float %33, %35
  %37 = fadd contract float %22, %36
  br label %b1

stop2:                                            ; preds = %b2
  %.lcssa6 = phi i64 [ %29, %b2 ]
  %38 = icmp slt i64 %.lcssa6, 0
  %39 = select i1 %38, i64 %4, i64 0
  %40 = sub nuw i64 %.lcssa6, %39
  call void @rt_host_trap(ptr nonnull %launch, i32 1, i64 %block, i32 %t, i64 %40, i64 %4, i64 0, i64 0)
  unreachable

ok3:                                              ; preds = %b3
  %41 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %42 = load ptr, ptr %41, align 8, !invariant.load !0, !pyptx.field !0
  %43 = getelementptr inbounds nuw float, ptr %42, i64 %19
  store float %.lcssa, ptr %43, align 4
  ret void

stop4:                                            ; preds = %b3
  call void @rt_host_trap(ptr nonnull %launch, i32 2, i64 %block, i32 %t, i64 %19, i64 %9, i64 0, i64 0)
  unreachable
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

declare i64 @llvm.umin.i64(i64, i64) #2

attributes #0 = { alwaysinline nounwind }
attributes #1 = { cold noreturn nounwind }
attributes #2 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }

!0 = !{}
!1 = !{i32 1, i32 1025}
!2 = !{!"branch_weights", i32 1048576, i32 1}
