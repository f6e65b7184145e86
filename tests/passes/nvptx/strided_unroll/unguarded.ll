; opt=3
; Function Attrs: nounwind
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, ptr addrspace(1) align 4 %1) #0 {
entry:
  %2 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %3 = and i32 %2, 3
  %4 = zext nneg i32 %3 to i64
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %6 = shl nuw i32 %5, 1
  %7 = zext i32 %6 to i64
  %8 = add nuw nsw i64 %7, 4
  %9 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %10 = zext nneg i32 %9 to i64
  br label %b2

b2:                                               ; preds = %entry, %b2
  %11 = phi i64 [ %4, %entry ], [ %13, %b2 ]
  %12 = phi float [ 0.000000e+00, %entry ], [ %17, %b2 ]
  %13 = add nuw nsw i64 %11, %10
  %sext = shl i64 %11, 32
  %14 = ashr exact i64 %sext, 30
  %15 = getelementptr inbounds i8, ptr addrspace(1) %0, i64 %14
  %16 = load float, ptr addrspace(1) %15, align 4, !pyptx.in_range !0
  %17 = fadd contract float %12, %16
  %18 = icmp samesign ult i64 %13, %8
  br i1 %18, label %b2, label %b3, !llvm.loop !1

b3:                                               ; preds = %b2
  %19 = zext nneg i32 %2 to i64
  %20 = getelementptr inbounds nuw float, ptr addrspace(1) %1, i64 %19
  store float %17, ptr addrspace(1) %20, align 4
  ret void
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #1

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
