; opt=3
; In two blocks, of two numbers, two sines: as they are.
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, float %b, ptr addrspace(1) align 4 %out) #0 {
entry:
  %a = load float, ptr addrspace(1) %x, align 4
  %s = call float @__nv_sinf(float %a)
  %s2 = call float @__nv_sinf(float %a)
  %c = call float @__nv_cosf(float %b)
  %some = fcmp ogt float %s, %s2
  br i1 %some, label %yes, label %behind

yes:
  %c2 = call float @__nv_cosf(float %a)
  br label %behind

behind:
  %u = phi float [ %c2, %yes ], [ %c, %entry ]
  store float %u, ptr addrspace(1) %out, align 4
  ret void
}

declare float @__nv_cosf(float)
declare float @__nv_sinf(float)

attributes #0 = { nounwind }
