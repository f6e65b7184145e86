; opt=3 before=fission
define internal void @k.thread(ptr nonnull align 8 dereferenceable(96) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  %0 = load ptr, ptr %launch, align 8, !invariant.load !0
  %1 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %2 = load i32, ptr %1, align 4, !invariant.load !0, !pyptx.field !0
  %3 = zext nneg i32 %2 to i64
  %4 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %5 = load i64, ptr %4, align 8, !invariant.load !0, !pyptx.field !0
  %6 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %7 = load i32, ptr %6, align 4, !invariant.load !0, !pyptx.field !0
  %8 = zext nneg i32 %7 to i64
  %9 = getelementptr inbounds nuw i8, ptr %launch, i64 20
  %10 = load i32, ptr %9, align 4, !range !1, !invariant.load !0, !pyptx.field !0
  %11 = zext nneg i32 %10 to i64
  %12 = zext nneg i32 %bx to i64
  %13 = mul nuw nsw i64 %12, %11
  %14 = zext nneg i32 %tx to i64
  %15 = add nuw nsw i64 %13, %14
  %16 = icmp samesign ult i64 %15, %3
  br i1 %16, label %ok, label %stop, !prof !2

b1:                                               ; preds = %b2, %ok
  %17 = phi float [ %50, %ok ], [ %39, %b2 ]
  %18 = phi float [ %49, %ok ], [ %33, %b2 ]
  %19 = phi float [ %48, %ok ], [ %27, %b2 ]
  %20 = phi i64 [ 16, %ok ], [ %40, %b2 ]
  %.not = icmp eq i64 %20, 0
  br i1 %.not, label %b3, label %b2

b2:                                               ; preds = %b1
  %21 = trunc nuw nsw i64 %20 to i32
  %22 = bitcast float %19 to i32
  %23 = zext i32 %22 to i64
  %24 = call i64 @pyptx.meet(i32 6, i32 2, i32 -1, i64 %23, i32 %21)
  %25 = trunc i64 %24 to i32
  %26 = bitcast i32 %25 to float
  %27 = fadd contract float %19, %26
  %28 = bitcast float %18 to i32
  %29 = zext i32 %28 to i64
  %30 = call i64 @pyptx.meet(i32 6, i32 4, i32 -1, i64 %29, i32 %21)
  %31 = trunc i64 %30 to i32
  %32 = bitcast i32 %31 to float
  %33 = fadd contract float %18, %32
  %34 = bitcast float %17 to i32
  %35 = zext i32 %34 to i64
  %36 = call i64 @pyptx.meet(i32 6, i32 6, i32 -1, i64 %35, i32 %21)
  %37 = trunc i64 %36 to i32
  %38 = bitcast i32 %37 to float
  %39 = fadd contract float %17, %38
  %40 = lshr i64 %20, 1
  br label %b1

b3:                                               ; preds = %b1
  %.lcssa4 = phi float [ %17, %b1 ]
  %.lcssa3 = phi float [ %18, %b1 ]
  %.lcssa = phi float [ %19, %b1 ]
  %41 = trunc i64 %5 to i32
  %42 = bitcast float %.lcssa to i32
  %43 = zext i32 %42 to i64
  %44 = call i64 @pyptx.meet(i32 5, i32 8, i32 -1, i64 %43, i32 %41)
  %45 = icmp samesign ult i64 %15, %8
  br i1 %45, label %ok1, label %stop2, !prof !2

ok:                                               ; preds = %entry
  %46 = load ptr, ptr %0, align 8, !invariant.load !0, !pyptx.field !0
  %47 = getelementptr inbounds nuw float, ptr %46, i64 %15
  %48 = load float, ptr %47, align 4
  %49 = fneg contract float %48
  %50 = fmul contract float %48, %48
  br label %b1

stop:                                             ; preds = %entry
  call void @rt_host_trap(ptr nonnull %launch, i32 0, i64 %block, i32 %t, i64 %15, i64 %3, i64 0, i64 0)
  unreachable

ok1:                                              ; preds = %b3
  %51 = fmul contract float %.lcssa, %.lcssa3
  %52 = fadd contract float %51, %.lcssa4
  %53 = trunc i64 %44 to i32
  %54 = bitcast i32 %53 to float
  %55 = fadd contract float %52, %54
  %56 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %57 = load ptr, ptr %56, align 8, !invariant.load !0, !pyptx.field !0
  %58 = getelementptr inbounds nuw float, ptr %57, i64 %15
  store float %55, ptr %58, align 4
  ret void

stop2:                                            ; preds = %b3
  call void @rt_host_trap(ptr nonnull %launch, i32 1, i64 %block, i32 %t, i64 %15, i64 %8, i64 0, i64 0)
  unreachable
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

declare i64 @pyptx.meet(i32, i32, i32, i64, i32) #2

attributes #0 = { nounwind }
attributes #1 = { cold noreturn nounwind }
attributes #2 = { convergent nomerge nounwind }

!0 = !{}
!1 = !{i32 1, i32 1025}
!2 = !{!"branch_weights", i32 1048576, i32 1}
