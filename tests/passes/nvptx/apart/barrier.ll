; opt=3
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, ptr addrspace(1) align 4 %1) #0 {
entry:
  %a = load float, ptr addrspace(1) %0, align 4
  store float %a, ptr addrspace(1) %1, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %b = load float, ptr addrspace(1) %0, align 4
  %p = getelementptr inbounds float, ptr addrspace(1) %1, i64 1
  store float %b, ptr addrspace(1) %p, align 4
  ret void
}
attributes #0 = { nounwind }
