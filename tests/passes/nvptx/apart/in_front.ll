; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, ptr addrspace(1) align 4 %1, ptr addrspace(1) align 4 %2) #0 {
entry:
  %a = load float, ptr addrspace(1) %0, align 4
  %b = load float, ptr addrspace(1) %1, align 4
  %c = fadd contract float %a, %b
  store float %c, ptr addrspace(1) %2, align 4
  %d = load float, ptr addrspace(1) %2, align 4
  %p = getelementptr inbounds float, ptr addrspace(1) %2, i64 1
  store float %d, ptr addrspace(1) %p, align 4
  ret void
}
attributes #0 = { nounwind }
