; opt=3
; Each function is called once, and what one has written to memory is not a function of numbers.
define ptx_kernel void @k(ptr addrspace(1) align 8 %x, ptr addrspace(1) align 8 %out) #0 {
entry:
  %n = alloca i32, align 4
  %a = load double, ptr addrspace(1) %x, align 8
  %c = call double @__nv_cos(double %a)
  %b = load double, ptr addrspace(1) %x, align 8
  %s = call double @__nv_sin(double %b)
  %m = call double @__nv_frexp(double %a, ptr %n)
  %m2 = call double @__nv_frexp(double %a, ptr %n)
  %p = fmul double %c, %s
  %q = fadd double %m, %m2
  %r = fadd double %p, %q
  store double %r, ptr addrspace(1) %out, align 8
  ret void
}

declare double @__nv_cos(double)
declare double @__nv_sin(double)
declare double @__nv_frexp(double, ptr)

attributes #0 = { nounwind }
