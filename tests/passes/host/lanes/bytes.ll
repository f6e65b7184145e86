; opt=3 avx512
; Bytes of a place of each lane's own, behind a branch: lanes that rest read a zero, in place of a branch for each.
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
  %11 = load i64, ptr %10, align 8, !invariant.load !0, !pyptx.field !0
  %12 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %13 = load ptr, ptr %12, align 8, !invariant.load !0, !pyptx.field !0
  %14 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %15 = load i32, ptr %14, align 4, !invariant.load !0, !pyptx.field !0
  %16 = zext nneg i32 %15 to i64
  %17 = getelementptr inbounds nuw i8, ptr %launch, i64 20
  %18 = load i32, ptr %17, align 4, !range !1, !invariant.load !0, !pyptx.field !0
  %19 = zext nneg i32 %18 to i64
  %20 = zext nneg i32 %bx to i64
  %21 = mul nuw nsw i64 %20, %19
  %22 = zext nneg i32 %tx to i64
  %23 = add nuw nsw i64 %21, %22
  %24 = icmp samesign ult i64 %23, %16
  br i1 %24, label %b1, label %b6

b1:                                               ; preds = %entry
  %25 = icmp samesign ult i64 %23, %9
  br i1 %25, label %ok, label %stop, !prof !2

b2:                                               ; preds = %b7, %ok
  %26 = phi double [ 0.000000e+00, %ok ], [ %42, %b7 ]
  %27 = phi double [ %45, %ok ], [ %34, %b7 ]
  %28 = phi i64 [ 0, %ok ], [ %30, %b7 ]
  %29 = icmp samesign ult i64 %28, 16
  br i1 %29, label %b3, label %b5

b3:                                               ; preds = %b2
  %30 = add nuw nsw i64 %28, 1
  %31 = fmul contract double %27, 1.500000e+00
  %32 = uitofp nneg i64 %28 to double
  %33 = fmul contract double %32, 2.500000e-01
  %34 = fsub contract double %31, %33
  %35 = fcmp ogt double %34, 0.000000e+00
  br i1 %35, label %b4, label %b7

b4:                                               ; preds = %b3
  %36 = mul i64 %23, %11
  %37 = add i64 %36, %28
  %38 = icmp slt i64 %37, 0
  %39 = select i1 %38, i64 %4, i64 0
  %40 = add i64 %37, %39
  %41 = icmp ult i64 %40, %4
  br i1 %41, label %ok1, label %stop2, !prof !2

b7:                                               ; preds = %ok1, %b3
  %42 = phi double [ %26, %b3 ], [ %52, %ok1 ]
  br label %b2

b5:                                               ; preds = %b2
  %.lcssa = phi double [ %26, %b2 ]
  %43 = icmp samesign ult i64 %23, %16
  br i1 %43, label %ok3, label %stop4, !prof !2

b6:                                               ; preds = %ok3, %entry
  ret void

ok:                                               ; preds = %b1
  %44 = getelementptr inbounds nuw double, ptr %6, i64 %23
  %45 = load double, ptr %44, align 8
  br label %b2

stop:                                             ; preds = %b1
  call void @rt_host_trap_in_line(ptr %launch, i32 0, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %23, i64 %9, i64 0, i64 0)
  unreachable

ok1:                                              ; preds = %b4
  %46 = getelementptr inbounds i8, ptr %1, i64 %40
  %47 = load i8, ptr %46, align 1
  %48 = uitofp i8 %47 to double
  %49 = fmul contract double %34, %48
  %50 = fmul contract double %26, 5.000000e-01
  %51 = fadd contract double %49, %50
  %52 = fadd contract double %26, %51
  br label %b7

stop2:                                            ; preds = %b4
  %.lcssa6 = phi i64 [ %40, %b4 ]
  %53 = icmp slt i64 %.lcssa6, 0
  %54 = select i1 %53, i64 %4, i64 0
  %55 = sub nuw i64 %.lcssa6, %54
  call void @rt_host_trap_in_line(ptr %launch, i32 1, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %55, i64 %4, i64 0, i64 0)
  unreachable

ok3:                                              ; preds = %b5
  %56 = getelementptr inbounds nuw double, ptr %13, i64 %23
  store double %.lcssa, ptr %56, align 8
  br label %b6

stop4:                                            ; preds = %b5
  call void @rt_host_trap_in_line(ptr %launch, i32 2, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %23, i64 %16, i64 0, i64 0)
  unreachable
}

; Function Attrs: cold noreturn nounwind
declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

; Function Attrs: cold noreturn
declare void @rt_host_trap_in_line(ptr, i32, i32, i32, i32, i32, i32, i64, i64, i64, i64) #2

attributes #0 = { alwaysinline nounwind }
attributes #1 = { cold noreturn nounwind }
attributes #2 = { cold noreturn }

!0 = !{}
!1 = !{i32 1, i32 1025}
!2 = !{!"branch_weights", i32 1048576, i32 1}
