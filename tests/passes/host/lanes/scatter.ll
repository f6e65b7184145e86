; opt=3
define internal void @k.thread(ptr nonnull align 8 dereferenceable(96) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  %0 = load ptr, ptr %launch, align 8, !invariant.load !0
  %1 = load ptr, ptr %0, align 8, !invariant.load !0, !pyptx.field !0
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %3 = load ptr, ptr %2, align 8, !invariant.load !0, !pyptx.field !0
  %4 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %5 = load i32, ptr %4, align 4, !invariant.load !0, !pyptx.field !0
  %6 = zext nneg i32 %5 to i64
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 28
  %8 = load i32, ptr %7, align 4, !invariant.load !0, !pyptx.field !0
  %9 = zext nneg i32 %8 to i64
  %10 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %11 = load i32, ptr %10, align 4, !invariant.load !0, !pyptx.field !0
  %12 = zext nneg i32 %11 to i64
  %13 = getelementptr inbounds nuw i8, ptr %launch, i64 20
  %14 = load i32, ptr %13, align 4, !range !1, !invariant.load !0, !pyptx.field !0
  %15 = zext nneg i32 %14 to i64
  %16 = zext nneg i32 %bx to i64
  %17 = mul nuw nsw i64 %16, %15
  %18 = zext nneg i32 %tx to i64
  %19 = add nuw nsw i64 %17, %18
  %20 = icmp samesign ult i64 %19, %12
  br i1 %20, label %ok, label %b6

b3:                                               ; preds = %b3.preheader, %b4
  %21 = phi float [ %26, %b4 ], [ %31, %b3.preheader ]
  %22 = phi i64 [ %24, %b4 ], [ 0, %b3.preheader ]
  %23 = icmp samesign ult i64 %22, 4
  br i1 %23, label %b4, label %b5

b4:                                               ; preds = %b3
  %24 = add nuw nsw i64 %22, 1
  %25 = fmul contract float %21, %21
  %26 = fadd contract float %25, 1.000000e+00
  br label %b3

b5:                                               ; preds = %b3
  %.lcssa = phi float [ %21, %b3 ]
  %27 = udiv i64 %19, 3
  %28 = add nuw nsw i64 %27, %19
  %29 = icmp samesign ult i64 %28, %6
  br i1 %29, label %ok1, label %stop2, !prof !2

b6:                                               ; preds = %ok3, %ok, %entry
  ret void

ok:                                               ; preds = %entry
  %30 = getelementptr inbounds nuw float, ptr %1, i64 %19
  %31 = load float, ptr %30, align 4
  %32 = fcmp ogt float %31, 0.000000e+00
  br i1 %32, label %b3.preheader, label %b6

b3.preheader:                                     ; preds = %ok
  br label %b3

ok1:                                              ; preds = %b5
  %33 = icmp ugt i32 %8, 2
  br i1 %33, label %ok3, label %stop4, !prof !2

stop2:                                            ; preds = %b5
  call void @rt_host_trap_in_line(ptr %launch, i32 1, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %28, i64 %6, i64 0, i64 0)
  unreachable

ok3:                                              ; preds = %ok1
  %34 = mul nuw nsw i64 %28, %9
  %35 = getelementptr inbounds nuw float, ptr %3, i64 %34
  %36 = getelementptr inbounds nuw i8, ptr %35, i64 8
  store float %.lcssa, ptr %36, align 4
  br label %b6

stop4:                                            ; preds = %ok1
  call void @rt_host_trap_in_line(ptr %launch, i32 2, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 2, i64 %9, i64 0, i64 0)
  unreachable
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

declare void @rt_host_trap_in_line(ptr, i32, i32, i32, i32, i32, i32, i64, i64, i64, i64) #2

attributes #0 = { alwaysinline nounwind }
attributes #1 = { cold noreturn nounwind }
attributes #2 = { cold noreturn }

!0 = !{}
!1 = !{i32 1, i32 1025}
!2 = !{!"branch_weights", i32 1048576, i32 1}
