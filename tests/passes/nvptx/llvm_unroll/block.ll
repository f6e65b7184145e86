; opt=3
; Function Attrs: nounwind
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, i32 range(i32 0, -2147483648) %1, ptr addrspace(1) align 4 %2) #0 {
entry:
  %3 = zext nneg i32 %1 to i64
  br label %b0

b0:                                               ; preds = %entry
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %5 = zext nneg i32 %4 to i64
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %7 = zext nneg i32 %6 to i64
  br label %b1

b1:                                               ; preds = %b2, %b0
  %8 = phi float [ 0.000000e+00, %b0 ], [ %17, %b2 ]
  %9 = phi i32 [ %4, %b0 ], [ %12, %b2 ]
  %10 = zext nneg i32 %9 to i64
  %11 = icmp slt i32 %9, %1
  br i1 %11, label %b2, label %b3

b2:                                               ; preds = %b1
  %12 = add nuw nsw i32 %9, %6
  %13 = zext nneg i32 %12 to i64
  %14 = sext i32 %9 to i64
  %15 = getelementptr inbounds float, ptr addrspace(1) %0, i64 %14
  %16 = load float, ptr addrspace(1) %15, align 4
  %17 = fadd contract float %8, %16
  br label %b1, !llvm.loop !0

b3:                                               ; preds = %b1
  %18 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %19 = zext nneg i32 %18 to i64
  %20 = sext i32 %18 to i64
  %21 = getelementptr inbounds float, ptr addrspace(1) %2, i64 %20
  store float %8, ptr addrspace(1) %21, align 4
  ret void
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
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
