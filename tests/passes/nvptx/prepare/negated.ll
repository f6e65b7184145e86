; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 4 %out, i32 %a, i64 %b, float %x, double %y) #0 {
entry:
  %f = uitofp i32 %a to float
  %minus = fneg float %f
  %p = fmul contract float %x, %minus
  store float %p, ptr addrspace(1) %out, align 4
  %d = sitofp i64 %b to double
  %minus.d = fneg double %d
  %minus.y = fneg double %y
  %q = fmul double %minus.d, %minus.y
  store double %q, ptr addrspace(1) %out, align 8
  %kept = fmul float %minus, %f
  store float %kept, ptr addrspace(1) %out, align 4
  %square = fmul float %minus, %minus
  store float %square, ptr addrspace(1) %out, align 4
  ret void
}

attributes #0 = { nounwind }
