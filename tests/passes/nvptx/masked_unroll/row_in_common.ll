; opt=3
; threadIdx.y chooses the row, which a warp's threads so have in common: LLVM unrolls the loop.
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, ptr addrspace(1) align 4 %1, i32 range(i32 0, -2147483648) %2, ptr addrspace(1) align 4 %3) #0 {
entry:
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %6 = mul i32 %5, %4
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %8 = add i32 %6, %7
  %9 = sext i32 %8 to i64
  %10 = getelementptr inbounds i32, ptr addrspace(1) %0, i64 %9
  %11 = load i32, ptr addrspace(1) %10, align 4
  %12 = getelementptr i8, ptr addrspace(1) %10, i64 4
  %13 = load i32, ptr addrspace(1) %12, align 4
  %14 = icmp slt i32 %11, %13
  br i1 %14, label %b2, label %b3

b2:                                               ; preds = %entry, %b2
  %15 = phi i32 [ %17, %b2 ], [ %11, %entry ]
  %16 = phi float [ %23, %b2 ], [ 0.000000e+00, %entry ]
  %17 = add nsw i32 %15, 1
  %18 = add i32 %15, %2
  %19 = call i32 @llvm.umin.i32(i32 %15, i32 %18)
  %20 = sext i32 %19 to i64
  %21 = getelementptr inbounds float, ptr addrspace(1) %1, i64 %20
  %22 = load float, ptr addrspace(1) %21, align 4
  %23 = fadd contract float %16, %22
  %exitcond.not = icmp eq i32 %17, %13
  br i1 %exitcond.not, label %b3, label %b2, !llvm.loop !0

b3:                                               ; preds = %b2, %entry
  %.lcssa = phi float [ 0.000000e+00, %entry ], [ %23, %b2 ]
  %24 = getelementptr inbounds float, ptr addrspace(1) %3, i64 %9
  store float %.lcssa, ptr addrspace(1) %24, align 4
  ret void
}

declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.y() #1

declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.y() #1

declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.y() #1

declare i32 @llvm.umin.i32(i32, i32) #2

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }

!0 = distinct !{!0, !1, !2}
!1 = !{!"llvm.loop.unroll.disable"}
!2 = !{!"pyptx.masked", i32 8}
