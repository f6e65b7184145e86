; opt=3
; Function Attrs: nounwind
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, i32 range(i32 0, -2147483648) %1, ptr addrspace(1) align 4 %2) #0 {
entry:
  %3 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %5 = icmp samesign ult i32 %3, %1
  br i1 %5, label %b2.lr.ph, label %b3

b2.lr.ph:                                         ; preds = %entry
  %6 = add nuw nsw i32 %3, 5
  %.neg = mul nsw i32 %4, -3
  %7 = add i32 %.neg, %1
  %8 = icmp slt i32 %3, %7
  br i1 %8, label %.preheader3, label %.loopexit

.preheader3:                                      ; preds = %b2.lr.ph, %.preheader3
  %9 = phi i32 [ %32, %.preheader3 ], [ %3, %b2.lr.ph ]
  %10 = phi float [ %38, %.preheader3 ], [ 0.000000e+00, %b2.lr.ph ]
  %11 = add nuw nsw i32 %9, %4
  %12 = fmul contract float %10, 5.000000e-01
  %13 = urem i32 %9, %6
  %14 = zext nneg i32 %13 to i64
  %15 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %14
  %16 = load float, ptr addrspace(1) %15, align 4
  %17 = fadd contract float %12, %16
  %18 = add nuw nsw i32 %11, %4
  %19 = fmul contract float %17, 5.000000e-01
  %20 = urem i32 %11, %6
  %21 = zext nneg i32 %20 to i64
  %22 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %21
  %23 = load float, ptr addrspace(1) %22, align 4
  %24 = fadd contract float %19, %23
  %25 = add nuw nsw i32 %18, %4
  %26 = fmul contract float %24, 5.000000e-01
  %27 = urem i32 %18, %6
  %28 = zext nneg i32 %27 to i64
  %29 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %28
  %30 = load float, ptr addrspace(1) %29, align 4
  %31 = fadd contract float %26, %30
  %32 = add nuw nsw i32 %25, %4
  %33 = fmul contract float %31, 5.000000e-01
  %34 = urem i32 %25, %6
  %35 = zext nneg i32 %34 to i64
  %36 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %35
  %37 = load float, ptr addrspace(1) %36, align 4
  %38 = fadd contract float %33, %37
  %39 = icmp slt i32 %32, %7
  br i1 %39, label %.preheader3, label %.loopexit, !llvm.loop !0

.loopexit:                                        ; preds = %.preheader3, %b2.lr.ph
  %40 = phi i32 [ %3, %b2.lr.ph ], [ %32, %.preheader3 ]
  %41 = phi float [ 0.000000e+00, %b2.lr.ph ], [ %38, %.preheader3 ]
  %42 = icmp slt i32 %40, %1
  br i1 %42, label %.preheader, label %b3

.preheader:                                       ; preds = %.loopexit, %.preheader
  %43 = phi i32 [ %45, %.preheader ], [ %40, %.loopexit ]
  %44 = phi float [ %51, %.preheader ], [ %41, %.loopexit ]
  %45 = add nuw nsw i32 %43, %4
  %46 = fmul contract float %44, 5.000000e-01
  %47 = urem i32 %43, %6
  %48 = zext nneg i32 %47 to i64
  %49 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %48
  %50 = load float, ptr addrspace(1) %49, align 4
  %51 = fadd contract float %46, %50
  %52 = icmp slt i32 %45, %1
  br i1 %52, label %.preheader, label %b3, !llvm.loop !3

b3:                                               ; preds = %.loopexit, %.preheader, %entry
  %.lcssa = phi float [ 0.000000e+00, %entry ], [ %41, %.loopexit ], [ %51, %.preheader ]
  %53 = zext nneg i32 %3 to i64
  %54 = getelementptr inbounds nuw float, ptr addrspace(1) %2, i64 %53
  store float %.lcssa, ptr addrspace(1) %54, align 4
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
