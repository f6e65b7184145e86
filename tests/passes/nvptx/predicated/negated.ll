; opt=3
; What reads the negation of a predicated result, or a product's difference from it, reads a neg.f64; a difference that may not be fused stays.
define ptx_kernel void @k(double %x, double %y, double %t, i1 %c, ptr addrspace(1) align 8 %out) #0 {
entry:
  %sum = fadd double %t, %x
  %a = select i1 %c, double %sum, double %t
  %minus = fneg double %a
  store double %minus, ptr addrspace(1) %out, align 8
  %product = fmul contract double %x, %y
  %fused = fsub contract double %product, %a
  %second = getelementptr inbounds double, ptr addrspace(1) %out, i64 1
  store double %fused, ptr addrspace(1) %second, align 8
  %exact = fmul double %x, %t
  %apart = fsub double %exact, %a
  %third = getelementptr inbounds double, ptr addrspace(1) %out, i64 2
  store double %apart, ptr addrspace(1) %third, align 8
  ret void
}

attributes #0 = { nounwind }
