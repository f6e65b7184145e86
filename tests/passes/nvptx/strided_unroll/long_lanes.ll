; opt=3
; A body that is not copied once more for one iteration alone: that is one of a few.
; Function Attrs: nounwind
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, i32 range(i32 0, -2147483648) %1, ptr addrspace(1) align 4 %2) #0 {
entry:
  %3 = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %4 = icmp samesign ult i32 %3, %1
  br i1 %4, label %b2, label %b3

b2:                                               ; preds = %entry, %b2
  %5 = phi i32 [ %7, %b2 ], [ %3, %entry ]
  %6 = phi float [ %11, %b2 ], [ 0.000000e+00, %entry ]
  %7 = add nuw nsw i32 %5, 32
  %8 = zext nneg i32 %5 to i64
  %9 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %8
  %10 = load float, ptr addrspace(1) %9, align 4
  %m0 = fmul float %10, 2.500000e+00
  %m1 = fmul float %m0, 2.500000e+00
  %m2 = fmul float %m1, 2.500000e+00
  %m3 = fmul float %m2, 2.500000e+00
  %m4 = fmul float %m3, 2.500000e+00
  %m5 = fmul float %m4, 2.500000e+00
  %m6 = fmul float %m5, 2.500000e+00
  %m7 = fmul float %m6, 2.500000e+00
  %m8 = fmul float %m7, 2.500000e+00
  %m9 = fmul float %m8, 2.500000e+00
  %m10 = fmul float %m9, 2.500000e+00
  %m11 = fmul float %m10, 2.500000e+00
  %m12 = fmul float %m11, 2.500000e+00
  %m13 = fmul float %m12, 2.500000e+00
  %m14 = fmul float %m13, 2.500000e+00
  %m15 = fmul float %m14, 2.500000e+00
  %m16 = fmul float %m15, 2.500000e+00
  %m17 = fmul float %m16, 2.500000e+00
  %m18 = fmul float %m17, 2.500000e+00
  %m19 = fmul float %m18, 2.500000e+00
  %11 = fadd contract float %6, %m19
  %12 = icmp samesign ult i32 %7, %1
  br i1 %12, label %b2, label %b3, !llvm.loop !0

b3:                                               ; preds = %b2, %entry
  %.lcssa = phi float [ 0.000000e+00, %entry ], [ %11, %b2 ]
  %13 = zext nneg i32 %3 to i64
  %14 = getelementptr inbounds nuw float, ptr addrspace(1) %2, i64 %13
  store float %.lcssa, ptr addrspace(1) %14, align 4
  ret void
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 32) i32 @llvm.nvvm.read.ptx.sreg.laneid() #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }

!0 = distinct !{!0, !1, !2, !5}
!1 = !{!"llvm.loop.unroll.count", i32 8}
!2 = !{!"llvm.loop.unroll.followup_remainder", !3, !4}
!3 = !{!"llvm.loop.unroll.disable"}
!4 = !{!"pyptx.rest", i32 7}
!5 = !{!"llvm.loop.unroll.followup_unrolled", !3, !6}
!6 = !{!"pyptx.unrolled", i32 8}
