; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, ptr addrspace(1) align 4 %1) #0 {
entry:
  %p = getelementptr inbounds float, ptr addrspace(1) inttoptr (i64 4096 to ptr addrspace(1)), i64 1
  %a = load float, ptr addrspace(1) %p, align 4
  store float %a, ptr addrspace(1) %1, align 4
  %b = load float, ptr addrspace(1) %0, align 4
  store float %b, ptr addrspace(1) %1, align 4
  ret void
}
attributes #0 = { nounwind }
