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
  %9 = phi i32 [ %26, %.preheader3 ], [ %3, %6 ]
  %10 = phi float [ %30, %.preheader3 ], [ 0.000000e+00, %6 ]
  %11 = add nuw nsw i32 %9, %4
  %12 = zext nneg i32 %9 to i64
  %13 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %12
  %14 = load float, ptr addrspace(1) %13, align 4
  %15 = fadd contract float %10, %14
  %16 = add nuw nsw i32 %11, %4
  %17 = zext nneg i32 %11 to i64
  %18 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %17
  %19 = load float, ptr addrspace(1) %18, align 4
  %20 = fadd contract float %15, %19
  %21 = add nuw nsw i32 %16, %4
  %22 = zext nneg i32 %16 to i64
  %23 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %22
  %24 = load float, ptr addrspace(1) %23, align 4
  %25 = fadd contract float %20, %24
  %26 = add nuw nsw i32 %21, %4
  %27 = zext nneg i32 %21 to i64
  %28 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %27
  %29 = load float, ptr addrspace(1) %28, align 4
  %30 = fadd contract float %25, %29
  %31 = icmp slt i32 %26, %7
  br i1 %31, label %.preheader3, label %.loopexit, !llvm.loop !0

.loopexit:                                        ; preds = %.preheader3, %6
  %32 = phi i32 [ %3, %6 ], [ %26, %.preheader3 ]
  %33 = phi float [ 0.000000e+00, %6 ], [ %30, %.preheader3 ]
  %34 = icmp slt i32 %32, %1
  br i1 %34, label %.preheader, label %b3

.preheader:                                       ; preds = %.loopexit, %.preheader
  %35 = phi i32 [ %37, %.preheader ], [ %32, %.loopexit ]
  %36 = phi float [ %41, %.preheader ], [ %33, %.loopexit ]
  %37 = add nuw nsw i32 %35, %4
  %38 = zext nneg i32 %35 to i64
  %39 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %38
  %40 = load float, ptr addrspace(1) %39, align 4
  %41 = fadd contract float %36, %40
  %42 = icmp slt i32 %37, %1
  br i1 %42, label %.preheader, label %b3, !llvm.loop !3

b3:                                               ; preds = %.loopexit, %.preheader, %entry
  %.lcssa = phi float [ 0.000000e+00, %entry ], [ %33, %.loopexit ], [ %41, %.preheader ]
  %43 = zext nneg i32 %3 to i64
  %44 = getelementptr inbounds nuw float, ptr addrspace(1) %2, i64 %43
  store float %.lcssa, ptr addrspace(1) %44, align 4
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
