; opt=3
; Function Attrs: nounwind
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, i32 range(i32 0, -2147483648) %1, i64 %2, ptr addrspace(1) align 4 %3) #0 {
entry:
  %4 = zext nneg i32 %1 to i64
  %sext = shl i64 %2, 32
  %5 = ashr exact i64 %sext, 32
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %7 = zext nneg i32 %6 to i64
  %8 = icmp slt i64 %7, %4
  br i1 %8, label %b2, label %b3

b2:                                               ; preds = %entry, %b2
  %9 = phi i64 [ %18, %b2 ], [ %7, %entry ]
  %10 = phi float [ %17, %b2 ], [ 0.000000e+00, %entry ]
  %11 = icmp slt i64 %9, 0
  %12 = select i1 %11, i64 %4, i64 0
  %13 = add i64 %12, %9
  %sext1 = shl i64 %13, 32
  %14 = ashr exact i64 %sext1, 30
  %15 = getelementptr inbounds i8, ptr addrspace(1) %0, i64 %14
  %16 = load float, ptr addrspace(1) %15, align 4, !pyptx.in_range !0
  %17 = fadd contract float %10, %16
  %18 = add i64 %9, %5
  %19 = icmp slt i64 %18, %4
  br i1 %19, label %b2, label %b3, !llvm.loop !1

b3:                                               ; preds = %b2, %entry
  %.lcssa = phi float [ 0.000000e+00, %entry ], [ %17, %b2 ]
  %20 = getelementptr inbounds nuw float, ptr addrspace(1) %3, i64 %7
  store float %.lcssa, ptr addrspace(1) %20, align 4
  ret void
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }

!0 = !{}
!1 = distinct !{!1, !2, !3, !6}
!2 = !{!"llvm.loop.unroll.count", i32 4}
!3 = !{!"llvm.loop.unroll.followup_remainder", !4, !5}
!4 = !{!"llvm.loop.unroll.disable"}
!5 = !{!"pyptx.rest", i32 3}
!6 = !{!"llvm.loop.unroll.followup_unrolled", !4, !7}
!7 = !{!"pyptx.unrolled", i32 4}
