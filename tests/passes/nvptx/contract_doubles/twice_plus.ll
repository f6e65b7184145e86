; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, ptr addrspace(1) align 4 %1) #0 {
entry:
  %2 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %3 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %4 = mul i32 %3, %2
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %6 = add i32 %4, %5
  %7 = sext i32 %6 to i64
  %8 = getelementptr inbounds float, ptr addrspace(1) %0, i64 %7
  %9 = load float, ptr addrspace(1) %8, align 4
  %10 = getelementptr i8, ptr addrspace(1) %8, i64 4
  %11 = load float, ptr addrspace(1) %10, align 4
  %12 = fmul contract float %9, %11
  %13 = fadd contract float %12, %12
  %14 = getelementptr i8, ptr addrspace(1) %8, i64 8
  %15 = load float, ptr addrspace(1) %14, align 4
  %16 = fadd contract float %15, %13
  %17 = getelementptr inbounds float, ptr addrspace(1) %1, i64 %7
  store float %16, ptr addrspace(1) %17, align 4
  ret void
}

declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #1

declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
