; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 8 %0, i64 %1) #0 {
entry:
  %2 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %3 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %4 = mul i32 %3, %2
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %6 = add i32 %4, %5
  %7 = sext i32 %6 to i64
  %8 = getelementptr inbounds i64, ptr addrspace(1) %0, i64 %7
  %9 = load i64, ptr addrspace(1) %8, align 8
  %10 = icmp ult i64 %1, 64
  %11 = shl i64 %9, %1
  %12 = select i1 %10, i64 %11, i64 0
  store i64 %12, ptr addrspace(1) %8, align 8
  ret void
}

declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #1

declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
