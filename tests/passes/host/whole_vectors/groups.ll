; opt=3 before=fission
define internal void @k.thread(ptr nonnull align 8 dereferenceable(96) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  %0 = load ptr, ptr %launch, align 8, !invariant.load !0
  %1 = load ptr, ptr %0, align 8, !invariant.load !0, !pyptx.field !0
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 12
  %3 = load i32, ptr %2, align 4, !invariant.load !0, !pyptx.field !0
  %4 = zext nneg i32 %3 to i64
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %6 = load ptr, ptr %5, align 8, !invariant.load !0, !pyptx.field !0
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %8 = load i32, ptr %7, align 4, !invariant.load !0, !pyptx.field !0
  %9 = zext nneg i32 %8 to i64
  %10 = getelementptr inbounds nuw i8, ptr %launch, i64 20
  %11 = load i32, ptr %10, align 4, !range !1, !invariant.load !0, !pyptx.field !0
  %12 = zext nneg i32 %11 to i64
  %13 = zext nneg i32 %bx to i64
  %14 = mul nuw nsw i64 %13, %12
  %15 = zext nneg i32 %tx to i64
  %16 = add nuw nsw i64 %14, %15
  %17 = lshr i64 %16, 3
  %18 = and i64 %15, 7
  %19 = icmp samesign uge i64 %17, %9
  br i1 %19, label %b4, label %b2.preheader

b2.preheader:                                     ; preds = %entry
  br label %b2

b2:                                               ; preds = %b2.preheader, %b3
  %20 = phi float [ %28, %b3 ], [ 0.000000e+00, %b2.preheader ]
  %21 = phi i64 [ %23, %b3 ], [ %18, %b2.preheader ]
  %22 = icmp samesign ult i64 %21, %4
  br i1 %22, label %b3, label %b4.loopexit

b3:                                               ; preds = %b2
  %23 = add nuw nsw i64 %21, 8
  %24 = mul nuw nsw i64 %17, %4
  %25 = getelementptr inbounds nuw float, ptr %1, i64 %24
  %26 = getelementptr inbounds nuw float, ptr %25, i64 %21
  %27 = load float, ptr %26, align 4
  %28 = fadd contract float %20, %27
  br label %b2

b4.loopexit:                                      ; preds = %b2
  %.lcssa = phi float [ %20, %b2 ]
  br label %b4

b4:                                               ; preds = %b4.loopexit, %entry
  %29 = phi float [ 0.000000e+00, %entry ], [ %.lcssa, %b4.loopexit ]
  %30 = bitcast float %29 to i32
  %31 = zext i32 %30 to i64
  %32 = call i64 @pyptx.meet(i32 7, i32 0, i32 -1, i64 %31, i32 1)
  %33 = icmp ne i64 %18, 2
  %brmerge = or i1 %33, %19
  br i1 %brmerge, label %b7, label %b6

b6:                                               ; preds = %b4
  %34 = trunc i64 %32 to i32
  %35 = bitcast i32 %34 to float
  %36 = fadd contract float %29, %35
  %37 = getelementptr inbounds nuw float, ptr %6, i64 %17
  store float %36, ptr %37, align 4
  br label %b7

b7:                                               ; preds = %b4, %b6
  ret void
}

declare i64 @pyptx.meet(i32, i32, i32, i64, i32) #1

attributes #0 = { nounwind }
attributes #1 = { convergent nomerge nounwind }

!0 = !{}
!1 = !{i32 1, i32 1025}
