; opt=3
; Function Attrs: nounwind
; The start is an argument: whether there is one iteration alone is not asked.
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, i32 range(i32 0, -2147483648) %1, ptr addrspace(1) align 4 %2, i32 range(i32 0, -2147483648) %first) #0 {
entry:
  %3 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %5 = icmp samesign ult i32 %first, %1
  br i1 %5, label %b2, label %b3

b2:                                               ; preds = %entry, %b2
  %6 = phi i32 [ %8, %b2 ], [ %first, %entry ]
  %7 = phi float [ %12, %b2 ], [ 0.000000e+00, %entry ]
  %8 = add nuw nsw i32 %6, %4
  %9 = zext nneg i32 %6 to i64
  %10 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %9
  %11 = load float, ptr addrspace(1) %10, align 4
  %12 = fadd contract float %7, %11
  %13 = icmp samesign ult i32 %8, %1
  br i1 %13, label %b2, label %b3, !llvm.loop !0

b3:                                               ; preds = %b2, %entry
  %.lcssa = phi float [ 0.000000e+00, %entry ], [ %12, %b2 ]
  %14 = zext nneg i32 %3 to i64
  %15 = getelementptr inbounds nuw float, ptr addrspace(1) %2, i64 %14
  store float %.lcssa, ptr addrspace(1) %15, align 4
  ret void
}

declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1
declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #1

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }

!0 = distinct !{!0, !1, !2, !5}
!1 = !{!"llvm.loop.unroll.count", i32 4}
!2 = !{!"llvm.loop.unroll.followup_remainder", !3, !4}
!3 = !{!"llvm.loop.unroll.disable"}
!4 = !{!"pyptx.rest", i32 3}
!5 = !{!"llvm.loop.unroll.followup_unrolled", !3, !6}
!6 = !{!"pyptx.unrolled", i32 4}
