; opt=3 avx512
; Walks over bytes until one is filled: lanes that wait for the last one, gathers and choices cost more than they save.
define internal void @k.thread(ptr nonnull align 8 dereferenceable(96) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  %0 = load ptr, ptr %launch, align 8, !invariant.load !0
  %1 = load ptr, ptr %0, align 8, !invariant.load !0, !pyptx.field !0
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %3 = load i32, ptr %2, align 4, !invariant.load !0, !pyptx.field !0
  %4 = zext nneg i32 %3 to i64
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 12
  %6 = load i32, ptr %5, align 4, !invariant.load !0, !pyptx.field !0
  %7 = zext nneg i32 %6 to i64
  %8 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %9 = load i32, ptr %8, align 4, !invariant.load !0, !pyptx.field !0
  %10 = zext nneg i32 %9 to i64
  %11 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %12 = load ptr, ptr %11, align 8, !invariant.load !0, !pyptx.field !0
  %13 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %14 = load i32, ptr %13, align 4, !invariant.load !0, !pyptx.field !0
  %15 = zext nneg i32 %14 to i64
  %16 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %17 = load ptr, ptr %16, align 8, !invariant.load !0, !pyptx.field !0
  %18 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %19 = load i32, ptr %18, align 4, !invariant.load !0, !pyptx.field !0
  %20 = zext nneg i32 %19 to i64
  %21 = getelementptr inbounds nuw i8, ptr %0, i64 56
  %22 = load ptr, ptr %21, align 8, !invariant.load !0, !pyptx.field !0
  %23 = getelementptr inbounds nuw i8, ptr %0, i64 64
  %24 = load i32, ptr %23, align 4, !invariant.load !0, !pyptx.field !0
  %25 = zext nneg i32 %24 to i64
  %26 = getelementptr inbounds nuw i8, ptr %0, i64 72
  %27 = load ptr, ptr %26, align 8, !invariant.load !0, !pyptx.field !0
  %28 = getelementptr inbounds nuw i8, ptr %0, i64 80
  %29 = load i32, ptr %28, align 4, !invariant.load !0, !pyptx.field !0
  %30 = zext nneg i32 %29 to i64
  %31 = getelementptr inbounds nuw i8, ptr %0, i64 88
  %32 = load ptr, ptr %31, align 8, !invariant.load !0, !pyptx.field !0
  %33 = getelementptr inbounds nuw i8, ptr %0, i64 96
  %34 = load i32, ptr %33, align 4, !invariant.load !0, !pyptx.field !0
  %35 = zext nneg i32 %34 to i64
  %36 = getelementptr inbounds nuw i8, ptr %0, i64 104
  %37 = load ptr, ptr %36, align 8, !invariant.load !0, !pyptx.field !0
  %38 = getelementptr inbounds nuw i8, ptr %0, i64 112
  %39 = load i32, ptr %38, align 4, !invariant.load !0, !pyptx.field !0
  %40 = zext nneg i32 %39 to i64
  %41 = getelementptr inbounds nuw i8, ptr %0, i64 120
  %42 = load ptr, ptr %41, align 8, !invariant.load !0, !pyptx.field !0
  %43 = getelementptr inbounds nuw i8, ptr %0, i64 128
  %44 = load i32, ptr %43, align 4, !invariant.load !0, !pyptx.field !0
  %45 = zext nneg i32 %44 to i64
  %46 = getelementptr inbounds nuw i8, ptr %launch, i64 20
  %47 = load i32, ptr %46, align 4, !range !1, !invariant.load !0, !pyptx.field !0
  %48 = zext nneg i32 %47 to i64
  %49 = zext nneg i32 %bx to i64
  %50 = mul nuw nsw i64 %49, %48
  %51 = zext nneg i32 %tx to i64
  %52 = add nuw nsw i64 %50, %51
  %53 = icmp samesign ult i64 %52, %45
  br i1 %53, label %b1, label %b17

b1:                                               ; preds = %entry
  %54 = icmp samesign ult i64 %52, %15
  br i1 %54, label %ok, label %stop, !prof !2

b2:                                               ; preds = %b15, %ok15
  %55 = phi i64 [ 0, %ok15 ], [ %78, %b15 ]
  %56 = phi float [ %117, %ok15 ], [ %72, %b15 ]
  %57 = phi float [ %108, %ok15 ], [ %73, %b15 ]
  %58 = phi float [ %99, %ok15 ], [ %74, %b15 ]
  %59 = phi i64 [ %90, %ok15 ], [ %75, %b15 ]
  %60 = phi i64 [ %86, %ok15 ], [ %76, %b15 ]
  %61 = phi i64 [ %82, %ok15 ], [ %77, %b15 ]
  %62 = icmp sgt i64 %61, -1
  %63 = icmp slt i64 %61, %10
  %or.cond = select i1 %62, i1 %63, i1 false
  %64 = icmp sgt i64 %60, -1
  %or.cond31 = select i1 %or.cond, i1 %64, i1 false
  %65 = icmp slt i64 %60, %7
  %or.cond32 = select i1 %or.cond31, i1 %65, i1 false
  %66 = icmp sgt i64 %59, -1
  %or.cond33 = select i1 %or.cond32, i1 %66, i1 false
  %67 = icmp slt i64 %59, %4
  %or.cond34 = select i1 %or.cond33, i1 %67, i1 false
  br i1 %or.cond34, label %b8, label %b16

b8:                                               ; preds = %b2
  %68 = icmp ult i64 %59, %4
  br i1 %68, label %ok17, label %stop18, !prof !2

b9:                                               ; preds = %ok21
  %69 = fcmp ugt float %58, %57
  %70 = fcmp ugt float %58, %56
  %or.cond35 = select i1 %69, i1 true, i1 %70
  br i1 %or.cond35, label %b12, label %ok23

b12:                                              ; preds = %b9
  %71 = fcmp ugt float %57, %56
  br i1 %71, label %ok27, label %ok25

b15:                                              ; preds = %ok27, %ok25, %ok23
  %72 = phi float [ %56, %ok23 ], [ %56, %ok25 ], [ %134, %ok27 ]
  %73 = phi float [ %57, %ok23 ], [ %131, %ok25 ], [ %57, %ok27 ]
  %74 = phi float [ %128, %ok23 ], [ %58, %ok25 ], [ %58, %ok27 ]
  %75 = phi i64 [ %59, %ok23 ], [ %59, %ok25 ], [ %132, %ok27 ]
  %76 = phi i64 [ %60, %ok23 ], [ %129, %ok25 ], [ %60, %ok27 ]
  %77 = phi i64 [ %126, %ok23 ], [ %61, %ok25 ], [ %61, %ok27 ]
  %78 = add i64 %55, 1
  br label %b2

b16:                                              ; preds = %ok21, %b2
  %.lcssa47 = phi i64 [ %55, %ok21 ], [ %55, %b2 ]
  %79 = icmp samesign ult i64 %52, %45
  br i1 %79, label %ok29, label %stop30, !prof !2

b17:                                              ; preds = %ok29, %entry
  ret void

ok:                                               ; preds = %b1
  %80 = getelementptr inbounds nuw float, ptr %12, i64 %52
  %81 = load float, ptr %80, align 4
  %82 = call i64 @llvm.fptosi.sat.i64.f32(float %81)
  %83 = icmp samesign ult i64 %52, %20
  br i1 %83, label %ok1, label %stop2, !prof !2

stop:                                             ; preds = %b1
  call void @rt_host_trap_in_line(ptr %launch, i32 0, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %52, i64 %15, i64 0, i64 0)
  unreachable

ok1:                                              ; preds = %ok
  %84 = getelementptr inbounds nuw float, ptr %17, i64 %52
  %85 = load float, ptr %84, align 4
  %86 = call i64 @llvm.fptosi.sat.i64.f32(float %85)
  %87 = icmp samesign ult i64 %52, %25
  br i1 %87, label %ok3, label %stop4, !prof !2

stop2:                                            ; preds = %ok
  call void @rt_host_trap_in_line(ptr %launch, i32 1, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %52, i64 %20, i64 0, i64 0)
  unreachable

ok3:                                              ; preds = %ok1
  %88 = getelementptr inbounds nuw float, ptr %22, i64 %52
  %89 = load float, ptr %88, align 4
  %90 = call i64 @llvm.fptosi.sat.i64.f32(float %89)
  %91 = icmp samesign ult i64 %52, %30
  br i1 %91, label %ok7, label %stop8, !prof !2

stop4:                                            ; preds = %ok1
  call void @rt_host_trap_in_line(ptr %launch, i32 2, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %52, i64 %25, i64 0, i64 0)
  unreachable

ok7:                                              ; preds = %ok3
  %92 = add i64 %82, 1
  %93 = sitofp i64 %92 to float
  %94 = fsub contract float %93, %81
  %95 = getelementptr inbounds nuw float, ptr %27, i64 %52
  %96 = load float, ptr %95, align 4
  %97 = fdiv contract float 1.000000e+00, %96
  %98 = call float @llvm.fabs.f32(float %97)
  %99 = fmul contract float %94, %98
  %100 = icmp samesign ult i64 %52, %35
  br i1 %100, label %ok11, label %stop12, !prof !2

stop8:                                            ; preds = %ok3
  call void @rt_host_trap_in_line(ptr %launch, i32 4, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %52, i64 %30, i64 0, i64 0)
  unreachable

ok11:                                             ; preds = %ok7
  %101 = add i64 %86, 1
  %102 = sitofp i64 %101 to float
  %103 = fsub contract float %102, %85
  %104 = getelementptr inbounds nuw float, ptr %32, i64 %52
  %105 = load float, ptr %104, align 4
  %106 = fdiv contract float 1.000000e+00, %105
  %107 = call float @llvm.fabs.f32(float %106)
  %108 = fmul contract float %103, %107
  %109 = icmp samesign ult i64 %52, %40
  br i1 %109, label %ok15, label %stop16, !prof !2

stop12:                                           ; preds = %ok7
  call void @rt_host_trap_in_line(ptr %launch, i32 6, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %52, i64 %35, i64 0, i64 0)
  unreachable

ok15:                                             ; preds = %ok11
  %110 = add i64 %90, 1
  %111 = sitofp i64 %110 to float
  %112 = fsub contract float %111, %89
  %113 = getelementptr inbounds nuw float, ptr %37, i64 %52
  %114 = load float, ptr %113, align 4
  %115 = fdiv contract float 1.000000e+00, %114
  %116 = call float @llvm.fabs.f32(float %115)
  %117 = fmul contract float %112, %116
  br label %b2

stop16:                                           ; preds = %ok11
  call void @rt_host_trap_in_line(ptr %launch, i32 8, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %52, i64 %40, i64 0, i64 0)
  unreachable

ok17:                                             ; preds = %b8
  %118 = icmp ult i64 %60, %7
  br i1 %118, label %ok19, label %stop20, !prof !2

stop18:                                           ; preds = %b8
  %.lcssa44 = phi i64 [ %59, %b8 ]
  call void @rt_host_trap_in_line(ptr %launch, i32 9, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %.lcssa44, i64 %4, i64 0, i64 0)
  unreachable

ok19:                                             ; preds = %ok17
  %119 = icmp ult i64 %61, %10
  br i1 %119, label %ok21, label %stop22, !prof !2

stop20:                                           ; preds = %ok17
  %.lcssa41 = phi i64 [ %60, %ok17 ]
  call void @rt_host_trap_in_line(ptr %launch, i32 10, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %.lcssa41, i64 %7, i64 0, i64 0)
  unreachable

ok21:                                             ; preds = %ok19
  %120 = mul nuw nsw i64 %59, %7
  %121 = add nuw nsw i64 %120, %60
  %122 = mul nuw nsw i64 %121, %10
  %123 = getelementptr inbounds nuw i8, ptr %1, i64 %122
  %124 = getelementptr inbounds nuw i8, ptr %123, i64 %61
  %125 = load i8, ptr %124, align 1
  %.not = icmp eq i8 %125, 0
  br i1 %.not, label %b9, label %b16

stop22:                                           ; preds = %ok19
  %.lcssa38 = phi i64 [ %61, %ok19 ]
  call void @rt_host_trap_in_line(ptr %launch, i32 11, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %.lcssa38, i64 %10, i64 0, i64 0)
  unreachable

ok23:                                             ; preds = %b9
  %126 = add nuw i64 %61, 1
  %127 = load float, ptr %95, align 4
  %128 = fadd contract float %58, %127
  br label %b15

ok25:                                             ; preds = %b12
  %129 = add nuw i64 %60, 1
  %130 = load float, ptr %104, align 4
  %131 = fadd contract float %57, %130
  br label %b15

ok27:                                             ; preds = %b12
  %132 = add nuw i64 %59, 1
  %133 = load float, ptr %113, align 4
  %134 = fadd contract float %56, %133
  br label %b15

ok29:                                             ; preds = %b16
  %135 = trunc i64 %.lcssa47 to i32
  %136 = getelementptr inbounds nuw i32, ptr %42, i64 %52
  store i32 %135, ptr %136, align 4
  br label %b17

stop30:                                           ; preds = %b16
  call void @rt_host_trap_in_line(ptr %launch, i32 15, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %52, i64 %45, i64 0, i64 0)
  unreachable
}

; Function Attrs: cold noreturn nounwind
declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.fptosi.sat.i64.f32(float) #2

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.fabs.f32(float) #2

; Function Attrs: cold noreturn
declare void @rt_host_trap_in_line(ptr, i32, i32, i32, i32, i32, i32, i64, i64, i64, i64) #3

attributes #0 = { alwaysinline nounwind }
attributes #1 = { cold noreturn nounwind }
attributes #2 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #3 = { cold noreturn }

!0 = !{}
!1 = !{i32 1, i32 1025}
!2 = !{!"branch_weights", i32 1048576, i32 1}
