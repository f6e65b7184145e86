; opt=3
; Function Attrs: nounwind
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, i32 range(i32 0, -2147483648) %1, ptr addrspace(1) align 4 %2) #0 {
entry:
  %3 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %5 = icmp samesign ult i32 %3, %1
  br i1 %5, label %6, label %b3

6:                                                ; preds = %entry
  %.neg = mul nsw i32 %4, -3
  %7 = add i32 %.neg, %1
  %8 = icmp slt i32 %3, %7
  br i1 %8, label %.preheader3, label %.loopexit

.preheader3:                                      ; preds = %6, %.preheader3
  %9 = phi i32 [ %65, %.preheader3 ], [ %3, %6 ]
  %10 = phi float [ %82, %.preheader3 ], [ 0.000000e+00, %6 ]
  %11 = add nuw nsw i32 %9, %4
  %12 = fmul contract float %10, 5.000000e-01
  %13 = zext nneg i32 %9 to i64
  %14 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %13
  %15 = load float, ptr addrspace(1) %14, align 4
  %16 = getelementptr i8, ptr addrspace(1) %14, i64 4
  %17 = load float, ptr addrspace(1) %16, align 4
  %18 = fmul contract float %15, %17
  %19 = fadd contract float %12, %18
  %20 = getelementptr i8, ptr addrspace(1) %14, i64 8
  %21 = load float, ptr addrspace(1) %20, align 4
  %22 = getelementptr i8, ptr addrspace(1) %14, i64 12
  %23 = load float, ptr addrspace(1) %22, align 4
  %24 = fmul contract float %21, %23
  %25 = fsub contract float %19, %24
  %26 = getelementptr i8, ptr addrspace(1) %14, i64 16
  %27 = load float, ptr addrspace(1) %26, align 4
  %28 = fadd contract float %27, %25
  %29 = add nuw nsw i32 %11, %4
  %30 = fmul contract float %28, 5.000000e-01
  %31 = zext nneg i32 %11 to i64
  %32 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %31
  %33 = load float, ptr addrspace(1) %32, align 4
  %34 = getelementptr i8, ptr addrspace(1) %32, i64 4
  %35 = load float, ptr addrspace(1) %34, align 4
  %36 = fmul contract float %33, %35
  %37 = fadd contract float %30, %36
  %38 = getelementptr i8, ptr addrspace(1) %32, i64 8
  %39 = load float, ptr addrspace(1) %38, align 4
  %40 = getelementptr i8, ptr addrspace(1) %32, i64 12
  %41 = load float, ptr addrspace(1) %40, align 4
  %42 = fmul contract float %39, %41
  %43 = fsub contract float %37, %42
  %44 = getelementptr i8, ptr addrspace(1) %32, i64 16
  %45 = load float, ptr addrspace(1) %44, align 4
  %46 = fadd contract float %45, %43
  %47 = add nuw nsw i32 %29, %4
  %48 = fmul contract float %46, 5.000000e-01
  %49 = zext nneg i32 %29 to i64
  %50 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %49
  %51 = load float, ptr addrspace(1) %50, align 4
  %52 = getelementptr i8, ptr addrspace(1) %50, i64 4
  %53 = load float, ptr addrspace(1) %52, align 4
  %54 = fmul contract float %51, %53
  %55 = fadd contract float %48, %54
  %56 = getelementptr i8, ptr addrspace(1) %50, i64 8
  %57 = load float, ptr addrspace(1) %56, align 4
  %58 = getelementptr i8, ptr addrspace(1) %50, i64 12
  %59 = load float, ptr addrspace(1) %58, align 4
  %60 = fmul contract float %57, %59
  %61 = fsub contract float %55, %60
  %62 = getelementptr i8, ptr addrspace(1) %50, i64 16
  %63 = load float, ptr addrspace(1) %62, align 4
  %64 = fadd contract float %63, %61
  %65 = add nuw nsw i32 %47, %4
  %66 = fmul contract float %64, 5.000000e-01
  %67 = zext nneg i32 %47 to i64
  %68 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %67
  %69 = load float, ptr addrspace(1) %68, align 4
  %70 = getelementptr i8, ptr addrspace(1) %68, i64 4
  %71 = load float, ptr addrspace(1) %70, align 4
  %72 = fmul contract float %69, %71
  %73 = fadd contract float %66, %72
  %74 = getelementptr i8, ptr addrspace(1) %68, i64 8
  %75 = load float, ptr addrspace(1) %74, align 4
  %76 = getelementptr i8, ptr addrspace(1) %68, i64 12
  %77 = load float, ptr addrspace(1) %76, align 4
  %78 = fmul contract float %75, %77
  %79 = fsub contract float %73, %78
  %80 = getelementptr i8, ptr addrspace(1) %68, i64 16
  %81 = load float, ptr addrspace(1) %80, align 4
  %82 = fadd contract float %81, %79
  %83 = icmp slt i32 %65, %7
  br i1 %83, label %.preheader3, label %.loopexit, !llvm.loop !0

.loopexit:                                        ; preds = %.preheader3, %6
  %84 = phi i32 [ %3, %6 ], [ %65, %.preheader3 ]
  %85 = phi float [ 0.000000e+00, %6 ], [ %82, %.preheader3 ]
  %86 = icmp slt i32 %84, %1
  br i1 %86, label %.preheader, label %b3

.preheader:                                       ; preds = %.loopexit, %.preheader
  %87 = phi i32 [ %89, %.preheader ], [ %84, %.loopexit ]
  %88 = phi float [ %106, %.preheader ], [ %85, %.loopexit ]
  %89 = add nuw nsw i32 %87, %4
  %90 = fmul contract float %88, 5.000000e-01
  %91 = zext nneg i32 %87 to i64
  %92 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %91
  %93 = load float, ptr addrspace(1) %92, align 4
  %94 = getelementptr i8, ptr addrspace(1) %92, i64 4
  %95 = load float, ptr addrspace(1) %94, align 4
  %96 = fmul contract float %93, %95
  %97 = fadd contract float %90, %96
  %98 = getelementptr i8, ptr addrspace(1) %92, i64 8
  %99 = load float, ptr addrspace(1) %98, align 4
  %100 = getelementptr i8, ptr addrspace(1) %92, i64 12
  %101 = load float, ptr addrspace(1) %100, align 4
  %102 = fmul contract float %99, %101
  %103 = fsub contract float %97, %102
  %104 = getelementptr i8, ptr addrspace(1) %92, i64 16
  %105 = load float, ptr addrspace(1) %104, align 4
  %106 = fadd contract float %105, %103
  %107 = icmp slt i32 %89, %1
  br i1 %107, label %.preheader, label %b3, !llvm.loop !3

b3:                                               ; preds = %.loopexit, %.preheader, %entry
  %.lcssa = phi float [ 0.000000e+00, %entry ], [ %85, %.loopexit ], [ %106, %.preheader ]
  %108 = zext nneg i32 %3 to i64
  %109 = getelementptr inbounds nuw float, ptr addrspace(1) %2, i64 %108
  store float %.lcssa, ptr addrspace(1) %109, align 4
  ret void
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #1

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }

!0 = distinct !{!0, !1, !2}
!1 = !{!"llvm.loop.unroll.disable"}
!2 = !{!"pyptx.unrolled", i32 4}
!3 = distinct !{!3, !1, !4}
!4 = !{!"pyptx.rest", i32 3}
