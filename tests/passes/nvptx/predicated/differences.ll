; opt=3
; A number less a product is a fused sum with a negation in the same text, for the condition or against it; a product less a number, and what may not be fused, stay.
define ptx_kernel void @k(double %x, double %y, double %t, i1 %c, ptr addrspace(1) align 8 %out) #0 {
entry:
  %product = fmul contract double %x, %y
  %less = fsub contract double %t, %product
  %a = select i1 %c, double %less, double %t
  %square = fmul contract double %x, %x
  %twice = fsub contract double %a, %square
  %b = select i1 %c, double %a, double %twice
  store double %b, ptr addrspace(1) %out, align 8
  %another = fmul contract double %y, %y
  %from = fsub contract double %another, %t
  %d = select i1 %c, double %from, double %t
  %second = getelementptr inbounds double, ptr addrspace(1) %out, i64 1
  store double %d, ptr addrspace(1) %second, align 8
  %exact = fmul double %x, %t
  %apart = fsub double %t, %exact
  %e = select i1 %c, double %apart, double %t
  %third = getelementptr inbounds double, ptr addrspace(1) %out, i64 2
  store double %e, ptr addrspace(1) %third, align 8
  ret void
}

attributes #0 = { nounwind }
