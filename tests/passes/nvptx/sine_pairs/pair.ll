; opt=3
; One call, where the first was; of the second number, which is another, each its own.
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, ptr addrspace(1) align 4 %out) #0 {
entry:
  %a = load float, ptr addrspace(1) %x, align 4
  %c = call float @__nv_cosf(float %a)
  %r = fmul float %c, 2.000000e+00
  %s = call float @__nv_sinf(float %a)
  %again = call float @__nv_sinf(float %r)
  %w = fpext float %s to double
  %ds = call double @__nv_sin(double %w)
  %dc = call double @__nv_cos(double %w)
  %d = fadd double %ds, %dc
  %t = fptrunc double %d to float
  %u = fadd float %again, %t
  store float %u, ptr addrspace(1) %out, align 4
  ret void
}

declare float @__nv_cosf(float)
declare float @__nv_sinf(float)
declare double @__nv_sin(double)
declare double @__nv_cos(double)

attributes #0 = { nounwind }
