; opt=3
; Differences and sums beside 0.0, either order; not beside -0.0, another number, or of float64.
define ptx_kernel void @k(ptr addrspace(1) align 8 %out, float %a, float %b, double %c, double %d) #0 {
entry:
  %x = fsub float %a, %b
  %p = fcmp olt float %x, 0.000000e+00
  %most = select i1 %p, float 0.000000e+00, float %x
  store float %most, ptr addrspace(1) %out, align 4
  %y = fadd float %a, %b
  %q = fcmp ugt float 0.000000e+00, %y
  %least = select i1 %q, float %y, float 0.000000e+00
  store float %least, ptr addrspace(1) %out, align 4
  %r = fcmp olt float %y, -0.000000e+00
  %other = select i1 %r, float -0.000000e+00, float %y
  store float %other, ptr addrspace(1) %out, align 4
  %s = fcmp olt float %x, 1.000000e+00
  %one = select i1 %s, float 1.000000e+00, float %x
  store float %one, ptr addrspace(1) %out, align 4
  %z = fsub double %c, %d
  %t = fcmp olt double %z, 0.000000e+00
  %double = select i1 %t, double 0.000000e+00, double %z
  store double %double, ptr addrspace(1) %out, align 8
  ret void
}
attributes #0 = { nounwind }
