; opt=3, fma=0
; Without fused operations the sum of a product is a sum. What another block computes is not computed here again.
define ptx_kernel void @k(double %x, double %y, double %t, i1 %c, i1 %d, ptr addrspace(1) align 8 %out) #0 {
entry:
  %before = fadd double %x, %t
  br i1 %d, label %yes, label %no

yes:                                              ; preds = %entry
  %product = fmul double %x, %y
  %sum = fadd double %t, %product
  %a = select i1 %c, double %sum, double %t
  %b = select i1 %d, double %before, double %a
  store double %b, ptr addrspace(1) %out, align 8
  br label %no

no:                                               ; preds = %yes, %entry
  ret void
}

attributes #0 = { nounwind }
