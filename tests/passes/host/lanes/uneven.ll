; opt=3
; Sums to a bound that each thread has read, until they converge: lanes would wait for the last one, so there are none.
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
  %15 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %16 = load double, ptr %15, align 8, !invariant.load !0, !pyptx.field !0
  %17 = getelementptr inbounds nuw i8, ptr %0, i64 56
  %18 = load i64, ptr %17, align 8, !invariant.load !0, !pyptx.field !0
  %19 = getelementptr inbounds nuw i8, ptr %0, i64 64
  %20 = load ptr, ptr %19, align 8, !invariant.load !0, !pyptx.field !0
  %21 = getelementptr inbounds nuw i8, ptr %0, i64 72
  %22 = load i32, ptr %21, align 4, !invariant.load !0, !pyptx.field !0
  %23 = zext nneg i32 %22 to i64
  %24 = getelementptr inbounds nuw i8, ptr %launch, i64 20
  %25 = load i32, ptr %24, align 4, !range !1, !invariant.load !0, !pyptx.field !0
  %26 = zext nneg i32 %25 to i64
  %27 = zext nneg i32 %bx to i64
  %28 = mul nuw nsw i64 %27, %26
  %29 = zext nneg i32 %tx to i64
  %30 = add nuw nsw i64 %28, %29
  %31 = icmp samesign ult i64 %30, %4
  br i1 %31, label %b2.preheader, label %b9

b2.preheader:                                     ; preds = %entry
  br label %b2

b2:                                               ; preds = %b2.preheader, %ok7
  %32 = phi double [ %74, %ok7 ], [ 5.000000e-02, %b2.preheader ]
  %33 = phi i64 [ %35, %ok7 ], [ 0, %b2.preheader ]
  %34 = icmp slt i64 %33, %18
  br i1 %34, label %b3, label %b8

b3:                                               ; preds = %b2
  %35 = add nuw nsw i64 %33, 1
  %36 = fadd contract double %32, 1.000000e+00
  %37 = fdiv contract double 1.000000e+00, %36
  %38 = icmp samesign ult i64 %30, %14
  br i1 %38, label %ok, label %stop, !prof !2

b4:                                               ; preds = %ok3, %ok
  %39 = phi double [ 0.000000e+00, %ok ], [ %63, %ok3 ]
  %40 = phi double [ 0.000000e+00, %ok ], [ %59, %ok3 ]
  %41 = phi double [ 1.000000e+00, %ok ], [ %45, %ok3 ]
  %42 = phi i64 [ 1, %ok ], [ %44, %ok3 ]
  %43 = icmp slt i64 %42, %55
  br i1 %43, label %b5, label %b6

b5:                                               ; preds = %b4
  %44 = add nuw nsw i64 %42, 1
  %45 = fmul contract double %41, %37
  %46 = icmp samesign ult i64 %30, %9
  br i1 %46, label %ok3, label %stop2, !prof !2

b6:                                               ; preds = %b4
  %.lcssa14 = phi double [ %39, %b4 ]
  %.lcssa12 = phi double [ %40, %b4 ]
  %.lcssa = phi double [ %41, %b4 ]
  %47 = fmul contract double %.lcssa, 1.000000e+02
  %48 = fadd contract double %.lcssa12, %47
  %49 = icmp samesign ult i64 %30, %4
  br i1 %49, label %ok7, label %stop8, !prof !2

b8:                                               ; preds = %ok7, %b2
  %50 = phi double [ %32, %b2 ], [ %74, %ok7 ]
  %51 = icmp samesign ult i64 %30, %23
  br i1 %51, label %ok9, label %stop10, !prof !2

b9:                                               ; preds = %ok9, %entry
  ret void

ok:                                               ; preds = %b3
  %52 = getelementptr inbounds nuw i32, ptr %11, i64 %30
  %53 = load i32, ptr %52, align 4
  %54 = add i32 %53, 1
  %55 = sext i32 %54 to i64
  br label %b4

stop:                                             ; preds = %b3
  call void @rt_host_trap_in_line(ptr %launch, i32 0, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %30, i64 %14, i64 0, i64 0)
  unreachable

stop2:                                            ; preds = %b5
  call void @rt_host_trap_in_line(ptr %launch, i32 1, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %30, i64 %9, i64 0, i64 0)
  unreachable

ok3:                                              ; preds = %b5
  %56 = getelementptr inbounds nuw double, ptr %6, i64 %30
  %57 = load double, ptr %56, align 8
  %58 = fmul contract double %57, %45
  %59 = fadd contract double %40, %58
  %60 = uitofp nneg i64 %42 to double
  %61 = fmul contract double %57, %60
  %62 = fmul contract double %61, %45
  %63 = fsub contract double %39, %62
  br label %b4

ok7:                                              ; preds = %b6
  %64 = load i32, ptr %52, align 4
  %65 = sitofp i32 %64 to double
  %66 = fmul contract double %65, 1.000000e+02
  %67 = fmul contract double %66, %.lcssa
  %68 = fsub contract double %.lcssa14, %67
  %69 = getelementptr inbounds nuw double, ptr %1, i64 %30
  %70 = load double, ptr %69, align 8
  %71 = fsub contract double %48, %70
  %72 = fmul contract double %68, %37
  %73 = fdiv contract double %71, %72
  %74 = fsub contract double %32, %73
  %75 = call double @llvm.fabs.f64(double %73)
  %76 = fcmp olt double %75, %16
  br i1 %76, label %b8, label %b2

stop8:                                            ; preds = %b6
  call void @rt_host_trap_in_line(ptr %launch, i32 4, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %30, i64 %4, i64 0, i64 0)
  unreachable

ok9:                                              ; preds = %b8
  %77 = getelementptr inbounds nuw double, ptr %20, i64 %30
  store double %50, ptr %77, align 8
  br label %b9

stop10:                                           ; preds = %b8
  call void @rt_host_trap_in_line(ptr %launch, i32 5, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %30, i64 %23, i64 0, i64 0)
  unreachable
}

; Function Attrs: cold noreturn nounwind
declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.fabs.f64(double) #2

; Function Attrs: cold noreturn
declare void @rt_host_trap_in_line(ptr, i32, i32, i32, i32, i32, i32, i64, i64, i64, i64) #3

attributes #0 = { alwaysinline nounwind }
attributes #1 = { cold noreturn nounwind }
attributes #2 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #3 = { cold noreturn }

!0 = !{}
!1 = !{i32 1, i32 1025}
!2 = !{!"branch_weights", i32 1048576, i32 1}
