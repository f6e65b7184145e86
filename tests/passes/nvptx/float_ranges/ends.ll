; opt=3
; What may be flushed to 0, a sum that may be contracted, and what may overflow have no range; float64,
; signs, differences and selections have.
define ptx_kernel void @k(ptr addrspace(1) align 8 %x, i16 %h, i1 %c) #0 {
entry:
  %n = sext i16 %h to i32
  %f = sitofp i32 %n to float
  %little = fmul float %f, 0x3720000000000000
  %q0 = fcmp ole float %little, 1.000000e+00
  %r0 = select i1 %q0, float 1.000000e+00, float 2.000000e+00
  store float %r0, ptr addrspace(1) %x, align 4
  %p = fmul contract float %f, 2.000000e+00
  %sum = fadd contract float %p, 1.000000e+00
  %q1 = fcmp olt float %sum, 1.000000e+06
  %r1 = select i1 %q1, float 3.000000e+00, float 4.000000e+00
  store float %r1, ptr addrspace(1) %x, align 4
  %large = fmul float %f, 0x47E0000000000000
  %q2 = fcmp ult float %large, 0x7FF0000000000000
  %r2 = select i1 %q2, float 5.000000e+00, float 6.000000e+00
  store float %r2, ptr addrspace(1) %x, align 4
  %d = sitofp i32 %n to double
  %away = fsub double 4.000000e+04, %d
  %other = select i1 %c, double %away, double 7.000000e+00
  %q3 = fcmp ugt double %other, 0.000000e+00
  %r3 = select i1 %q3, double %other, double 8.000000e+00
  store double %r3, ptr addrspace(1) %x, align 8
  %q4 = fcmp oge double %d, 3.276800e+04
  %r4 = select i1 %q4, double 9.000000e+00, double 1.000000e+01
  store double %r4, ptr addrspace(1) %x, align 8
  ret void
}

attributes #0 = { nounwind }
