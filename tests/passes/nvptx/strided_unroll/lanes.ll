; opt=3
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
  %11 = fadd contract float %6, %10
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
