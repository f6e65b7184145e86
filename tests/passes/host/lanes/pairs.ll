; opt=3
define internal void @k.thread(ptr nonnull align 8 dereferenceable(96) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  %v = alloca [16 x i8], align 8, !pyptx.place !0
  %0 = load ptr, ptr %launch, align 8, !invariant.load !1
  %1 = load ptr, ptr %0, align 8, !invariant.load !1, !pyptx.field !1
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %3 = load i32, ptr %2, align 4, !invariant.load !1, !pyptx.field !1
  %4 = zext nneg i32 %3 to i64
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %6 = load ptr, ptr %5, align 8, !invariant.load !1, !pyptx.field !1
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %8 = load i32, ptr %7, align 4, !invariant.load !1, !pyptx.field !1
  %9 = zext nneg i32 %8 to i64
  %10 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %11 = load i64, ptr %10, align 8, !invariant.load !1, !pyptx.field !1
  %12 = getelementptr inbounds nuw i8, ptr %launch, i64 20
  %13 = load i32, ptr %12, align 4, !range !2, !invariant.load !1, !pyptx.field !1
  %14 = zext nneg i32 %13 to i64
  %15 = zext nneg i32 %bx to i64
  %16 = mul nuw nsw i64 %15, %14
  %17 = zext nneg i32 %tx to i64
  %18 = add nuw nsw i64 %16, %17
  %19 = icmp samesign ult i64 %18, %4
  br i1 %19, label %ok, label %stop, !prof !3

b2:                                               ; preds = %b2.preheader, %ok5
  %20 = phi i64 [ %22, %ok5 ], [ 0, %b2.preheader ]
  %21 = icmp samesign ult i64 %20, 2
  br i1 %21, label %b3, label %b4

b3:                                               ; preds = %b2
  %22 = add nuw nsw i64 %20, 1
  %23 = icmp samesign ult i64 %20, %4
  br i1 %23, label %ok5, label %stop4, !prof !3

b4:                                               ; preds = %b2
  %24 = lshr i64 %11, 62
  %25 = and i64 %24, 2
  %26 = add i64 %11, %25
  %27 = icmp ult i64 %26, 2
  br i1 %27, label %ok7, label %stop8, !prof !3

b5:                                               ; preds = %ok9, %ok
  ret void

ok:                                               ; preds = %entry
  %28 = getelementptr inbounds nuw <2 x float>, ptr %1, i64 %18
  %29 = load <2 x float>, ptr %28, align 4
  %30 = extractelement <2 x float> %29, i64 0
  %31 = fcmp ogt float %30, 0.000000e+00
  br i1 %31, label %b2.preheader, label %b5

b2.preheader:                                     ; preds = %ok
  br label %b2

stop:                                             ; preds = %entry
  call void @rt_host_trap_in_line(ptr %launch, i32 0, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %18, i64 %4, i64 0, i64 0)
  unreachable

stop4:                                            ; preds = %b3
  %.lcssa11 = phi i64 [ %20, %b3 ]
  call void @rt_host_trap_in_line(ptr %launch, i32 2, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %.lcssa11, i64 %4, i64 0, i64 0)
  unreachable

ok5:                                              ; preds = %b3
  %32 = load <2 x float>, ptr %28, align 4
  %33 = extractelement <2 x float> %32, i64 0
  %34 = getelementptr inbounds nuw <2 x float>, ptr %1, i64 %20
  %35 = load <2 x float>, ptr %34, align 4
  %36 = extractelement <2 x float> %35, i64 1
  %37 = fmul contract float %33, %36
  %38 = extractelement <2 x float> %32, i64 1
  %39 = extractelement <2 x float> %35, i64 0
  %40 = fmul contract float %38, %39
  %41 = fadd contract float %37, %40
  %42 = fmul contract float %33, %39
  %43 = fmul contract float %38, %36
  %44 = fsub contract float %42, %43
  %45 = insertelement <2 x float> poison, float %44, i64 0
  %46 = insertelement <2 x float> %45, float %41, i64 1
  %47 = getelementptr inbounds nuw <2 x float>, ptr %v, i64 %20
  store <2 x float> %46, ptr %47, align 4
  br label %b2

ok7:                                              ; preds = %b4
  %48 = icmp samesign ult i64 %18, %9
  br i1 %48, label %ok9, label %stop10, !prof !3

stop8:                                            ; preds = %b4
  %49 = icmp slt i64 %26, 0
  %50 = add i64 %26, -2
  %51 = select i1 %49, i64 %50, i64 %26
  call void @rt_host_trap_in_line(ptr %launch, i32 4, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %51, i64 2, i64 0, i64 0)
  unreachable

ok9:                                              ; preds = %ok7
  %52 = getelementptr inbounds nuw <2 x float>, ptr %v, i64 %26
  %53 = load <2 x float>, ptr %52, align 4
  %54 = extractelement <2 x float> %53, i64 0
  %55 = getelementptr inbounds nuw i8, ptr %v, i64 8
  %56 = load <2 x float>, ptr %55, align 4
  %57 = extractelement <2 x float> %56, i64 1
  %58 = fmul contract float %54, %57
  %59 = extractelement <2 x float> %53, i64 1
  %60 = extractelement <2 x float> %56, i64 0
  %61 = fmul contract float %59, %60
  %62 = fadd contract float %58, %61
  %63 = fmul contract float %54, %60
  %64 = fmul contract float %59, %57
  %65 = fsub contract float %63, %64
  %66 = insertelement <2 x float> poison, float %65, i64 0
  %67 = insertelement <2 x float> %66, float %62, i64 1
  %68 = getelementptr inbounds nuw <2 x float>, ptr %6, i64 %18
  store <2 x float> %67, ptr %68, align 4
  br label %b5

stop10:                                           ; preds = %ok7
  call void @rt_host_trap_in_line(ptr %launch, i32 5, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %18, i64 %9, i64 0, i64 0)
  unreachable
}

; Function Attrs: cold noreturn nounwind
declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

; Function Attrs: cold noreturn
declare void @rt_host_trap_in_line(ptr, i32, i32, i32, i32, i32, i32, i64, i64, i64, i64) #2

attributes #0 = { alwaysinline nounwind }
attributes #1 = { cold noreturn nounwind }
attributes #2 = { cold noreturn }

!0 = !{!"// local.array[16] at 7:8-38 in k of pairs.py"}
!1 = !{}
!2 = !{i32 1, i32 1025}
!3 = !{!"branch_weights", i32 1048576, i32 1}
