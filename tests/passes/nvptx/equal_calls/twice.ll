; opt=3
; Cosines of one element, which is loaded twice, are one; of what is loaded behind a store, not.
define ptx_kernel void @k(ptr addrspace(1) align 8 %x, double %y, ptr addrspace(1) align 8 %out) #0 {
entry:
  %a = load double, ptr addrspace(1) %x, align 8
  %c = call double @__nv_cos(double %a)
  %s = call double @__nv_sin(double %y)
  %b = load double, ptr addrspace(1) %x, align 8
  %again = call double @__nv_cos(double %b)
  %p = fmul double %c, %s
  %q = fadd double %p, %again
  store double %q, ptr addrspace(1) %out, align 8
  %d = load double, ptr addrspace(1) %x, align 8
  %third = call double @__nv_cos(double %d)
  %o = getelementptr double, ptr addrspace(1) %out, i64 1
  store double %third, ptr addrspace(1) %o, align 8
  ret void
}

declare double @__nv_cos(double)
declare double @__nv_sin(double)

attributes #0 = { nounwind }
