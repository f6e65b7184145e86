; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, ptr addrspace(1) align 4 %1, i32 range(i32 0, -2147483648) %2, ptr addrspace(1) align 4 %3, i32 range(i32 0, -2147483648) %4, ptr addrspace(1) align 4 %5) #0 {
entry:
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %8 = mul i32 %7, %6
  %9 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %10 = add i32 %8, %9
  %11 = sext i32 %10 to i64
  %12 = getelementptr inbounds i32, ptr addrspace(1) %0, i64 %11
  %13 = load i32, ptr addrspace(1) %12, align 4
  %14 = getelementptr i8, ptr addrspace(1) %12, i64 4
  %15 = load i32, ptr addrspace(1) %14, align 4
  %16 = icmp slt i32 %13, %15
  br i1 %16, label %b2, label %b3

b2:                                               ; preds = %entry, %b2
  %17 = phi i32 [ %19, %b2 ], [ %13, %entry ]
  %18 = phi float [ %30, %b2 ], [ 0.000000e+00, %entry ]
  %19 = add nsw i32 %17, 1
  %20 = add i32 %17, %2
  %21 = call i32 @llvm.umin.i32(i32 %17, i32 %20)
  %22 = sext i32 %21 to i64
  %23 = getelementptr inbounds i32, ptr addrspace(1) %1, i64 %22
  %24 = load i32, ptr addrspace(1) %23, align 4
  %25 = add i32 %24, %4
  %26 = call i32 @llvm.umin.i32(i32 %24, i32 %25)
  %27 = sext i32 %26 to i64
  %28 = getelementptr inbounds float, ptr addrspace(1) %3, i64 %27
  %29 = load float, ptr addrspace(1) %28, align 4
  %30 = fadd contract float %18, %29
  %exitcond.not = icmp eq i32 %19, %15
  br i1 %exitcond.not, label %b3, label %b2, !llvm.loop !0

b3:                                               ; preds = %b2, %entry
  %.lcssa = phi float [ 0.000000e+00, %entry ], [ %30, %b2 ]
  %31 = getelementptr inbounds float, ptr addrspace(1) %5, i64 %11
  store float %.lcssa, ptr addrspace(1) %31, align 4
  ret void
}

declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #1

declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

declare i32 @llvm.umin.i32(i32, i32) #2

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }

!0 = distinct !{!0, !1, !2}
!1 = !{!"llvm.loop.unroll.disable"}
!2 = !{!"pyptx.masked", i32 8}
