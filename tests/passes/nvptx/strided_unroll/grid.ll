; opt=3
; Function Attrs: nounwind
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, i32 range(i32 0, -2147483648) %1, ptr addrspace(1) align 4 %2) #0 {
entry:
  %3 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %5 = mul nuw nsw i32 %4, %3
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %7 = add nuw nsw i32 %5, %6
  %8 = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %9 = mul i32 %8, %3
  %10 = call i32 @llvm.umin.i32(i32 %7, i32 %1)
  %11 = call i32 @llvm.smax.i32(i32 %9, i32 1)
  %12 = icmp samesign ult i32 %10, %1
  br i1 %12, label %b2, label %b3

b2:                                               ; preds = %entry, %b2
  %13 = phi i32 [ %15, %b2 ], [ %10, %entry ]
  %14 = phi float [ %19, %b2 ], [ 0.000000e+00, %entry ]
  %15 = add nuw nsw i32 %13, %11
  %16 = zext nneg i32 %13 to i64
  %17 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %16
  %18 = load float, ptr addrspace(1) %17, align 4
  %19 = fadd contract float %14, %18
  %20 = icmp samesign ult i32 %15, %1
  br i1 %20, label %b2, label %b3, !llvm.loop !0

b3:                                               ; preds = %b2, %entry
  %.lcssa1 = phi i32 [ 0, %entry ], [ %13, %b2 ]
  %.lcssa = phi float [ 0.000000e+00, %entry ], [ %19, %b2 ]
  %21 = zext nneg i32 %7 to i64
  %22 = getelementptr inbounds nuw float, ptr addrspace(1) %2, i64 %21
  store float %.lcssa, ptr addrspace(1) %22, align 4
  %23 = uitofp nneg i32 %.lcssa1 to float
  %24 = getelementptr i8, ptr addrspace(1) %22, i64 4
  store float %23, ptr addrspace(1) %24, align 4
  ret void
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 1, -2147483648) i32 @llvm.nvvm.read.ptx.sreg.nctaid.x() #1

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.umin.i32(i32, i32) #2

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.smax.i32(i32, i32) #2

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }

!0 = distinct !{!0, !1, !2, !5}
!1 = !{!"llvm.loop.unroll.count", i32 4}
!2 = !{!"llvm.loop.unroll.followup_remainder", !3, !4}
!3 = !{!"llvm.loop.unroll.disable"}
!4 = !{!"pyptx.rest", i32 3}
!5 = !{!"llvm.loop.unroll.followup_unrolled", !3, !6}
!6 = !{!"pyptx.unrolled", i32 4}
