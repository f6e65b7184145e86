; opt=3
define ptx_kernel void @k(ptr byval([128 x i8]) align 64 %0, ptr addrspace(1) align 4 %1, ptr addrspace(1) align 4 %2) #0 {
entry:
  store float 0.0, ptr addrspace(1) %1, align 4
  call void asm sideeffect "cp.async.bulk.prefetch.tensor.1d.L2.global.tile [$0, {0}];", "l,~{memory}"(ptr %0)
  %b = load float, ptr addrspace(1) %2, align 4
  store float %b, ptr addrspace(1) %1, align 4
  ret void
}
attributes #0 = { nounwind }
