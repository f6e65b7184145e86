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
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %8 = load i32, ptr %7, align 4, !invariant.load !0, !pyptx.field !0
  %9 = zext nneg i32 %8 to i64
  %10 = getelementptr inbounds nuw i8, ptr %launch, i64 20
  %11 = load i32, ptr %10, align 4, !range !1, !invariant.load !0
  %12 = zext nneg i32 %11 to i64
  %13 = getelementptr inbounds nuw i8, ptr %launch, i64 8
  %14 = load i32, ptr %13, align 4, !range !2, !invariant.load !0, !pyptx.field !0
  %15 = zext nneg i32 %14 to i64
  %16 = mul nuw nsw i64 %15, %12
  %17 = zext nneg i32 %bx to i64
  %18 = mul nuw nsw i64 %17, %12
  %19 = zext nneg i32 %tx to i64
  %20 = add nuw nsw i64 %18, %19
  br label %b1

b1:                                               ; preds = %ok3, %entry
  %21 = phi i64 [ %20, %entry ], [ %23, %ok3 ]
  %22 = icmp samesign ult i64 %21, %9
  br i1 %22, label %b2, label %b3

b2:                                               ; preds = %b1
  %23 = add nuw nsw i64 %21, %16
  %24 = icmp samesign ult i64 %21, %4
  br i1 %24, label %ok1, label %stop2, !prof !3

b3:                                               ; preds = %b1
  ret void

ok1:                                              ; preds = %b2
  %25 = icmp samesign ult i64 %21, %9
  br i1 %25, label %ok3, label %stop4, !prof !3

stop2:                                            ; preds = %b2
  %.lcssa5 = phi i64 [ %21, %b2 ]
  call void @rt_host_trap(ptr nonnull %launch, i32 1, i64 %block, i32 %t, i64 %.lcssa5, i64 %4, i64 0, i64 0)
  unreachable

ok3:                                              ; preds = %ok1
  %26 = getelementptr inbounds nuw float, ptr %1, i64 %21
  %27 = load float, ptr %26, align 4
  %28 = fmul contract float %27, 2.000000e+00
  %29 = getelementptr inbounds nuw float, ptr %6, i64 %21
  store float %28, ptr %29, align 4
  br label %b1

stop4:                                            ; preds = %ok1
  %.lcssa6 = phi i64 [ %21, %ok1 ]
  call void @rt_host_trap(ptr nonnull %launch, i32 2, i64 %block, i32 %t, i64 %.lcssa6, i64 %9, i64 0, i64 0)
  unreachable
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

attributes #0 = { alwaysinline nounwind }
attributes #1 = { cold noreturn nounwind }

!0 = !{}
!1 = !{i32 1, i32 1025}
!2 = !{i32 1, i32 -2147483648}
!3 = !{!"branch_weights", i32 1048576, i32 1}
