; opt=3 before=fission
define internal void @k.thread(ptr nonnull align 8 dereferenceable(96) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  %0 = load ptr, ptr %launch, align 8, !invariant.load !0
  %1 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %2 = load i32, ptr %1, align 4, !invariant.load !0, !pyptx.field !0
  %3 = zext nneg i32 %2 to i64
  %4 = getelementptr inbounds nuw i8, ptr %launch, i64 20
  %5 = load i32, ptr %4, align 4, !range !1, !invariant.load !0, !pyptx.field !0
  %6 = zext nneg i32 %5 to i64
  %7 = zext nneg i32 %bx to i64
  %8 = mul nuw nsw i64 %7, %6
  %9 = zext nneg i32 %tx to i64
  %10 = add nuw nsw i64 %8, %9
  %11 = lshr i64 %10, 5
  %12 = icmp samesign ult i64 %11, %3
  br i1 %12, label %b1, label %b2

b1:                                               ; preds = %entry
  %13 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %14 = load i32, ptr %13, align 4, !invariant.load !0, !pyptx.field !0
  %15 = zext nneg i32 %14 to i64
  %16 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %17 = load ptr, ptr %16, align 8, !invariant.load !0, !pyptx.field !0
  %18 = getelementptr inbounds nuw i8, ptr %0, i64 12
  %19 = load i32, ptr %18, align 4, !invariant.load !0, !pyptx.field !0
  %20 = zext nneg i32 %19 to i64
  %21 = load ptr, ptr %0, align 8, !invariant.load !0, !pyptx.field !0
  %lane = and i32 %t, 31
  %22 = zext nneg i32 %lane to i64
  %23 = mul nuw nsw i64 %11, %20
  %24 = getelementptr inbounds nuw float, ptr %21, i64 %23
  %25 = getelementptr inbounds nuw float, ptr %24, i64 %22
  %26 = load float, ptr %25, align 4
  %27 = bitcast float %26 to i32
  %28 = zext i32 %27 to i64
  %29 = call i64 @pyptx.meet(i32 7, i32 0, i32 -1, i64 %28, i32 1)
  %30 = trunc i64 %29 to i32
  %31 = bitcast i32 %30 to float
  %32 = fadd contract float %26, %31
  %33 = mul nuw nsw i64 %11, %15
  %34 = getelementptr inbounds nuw float, ptr %17, i64 %33
  %35 = getelementptr inbounds nuw float, ptr %34, i64 %22
  store float %32, ptr %35, align 4
  br label %b2

b2:                                               ; preds = %b1, %entry
  ret void
}

declare i64 @pyptx.meet(i32, i32, i32, i64, i32) #1

attributes #0 = { nounwind }
attributes #1 = { convergent nomerge nounwind }

!0 = !{}
!1 = !{i32 1, i32 1025}
