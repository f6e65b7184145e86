; opt=3
; A sum of a product is a fused one, for the condition or against it; one of two products, and a sum that is used again, stay. So do float32s.
define ptx_kernel void @k(double %x, double %y, double %t, i1 %c, float %f, ptr addrspace(1) align 8 %out) #0 {
entry:
  %product = fmul double %x, %y
  %fused = fadd double %t, %product
  %a = select i1 %c, double %fused, double %t
  %sum = fadd double %a, %x
  %b = select i1 %c, double %x, double %sum
  %square = fmul double %b, %b
  %two = fadd double %product, %square
  %d = select i1 %c, double %two, double %b
  %again = fsub double %d, %y
  %e = select i1 %c, double %again, double %d
  %g = fadd double %e, %again
  %h = fadd float %f, %f
  %s = select i1 %c, float %h, float %f
  %wide = fpext float %s to double
  %r = fmul double %g, %wide
  store double %r, ptr addrspace(1) %out, align 8
  ret void
}

attributes #0 = { nounwind }
