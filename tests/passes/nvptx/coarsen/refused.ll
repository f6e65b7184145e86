; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 4 %0) #0 {
entry:
  %1 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %2 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %3 = mul i32 %2, 7
  %4 = uitofp nneg i32 %1 to float
  %5 = sext i32 %3 to i64
  %6 = getelementptr inbounds float, ptr addrspace(1) %0, i64 %5
  store float %4, ptr addrspace(1) %6, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %7 = atomicrmw fadd ptr addrspace(1) %0, float 1.000000e+00 syncscope("device") monotonic, align 4
  ret void
}

declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) #2

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { convergent nocallback nounwind }
