; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, i32 %n, ptr addrspace(1) align 4 %out) #0 {
entry:
  %v = load float, ptr addrspace(1) %x, align 4
  %some = icmp ugt i32 %n, 1
  br i1 %some, label %yes, label %behind

yes:                                              ; preds = %entry
  %q = getelementptr inbounds float, ptr addrspace(1) %x, i64 1
  %w = load float, ptr addrspace(1) %q, align 4
  %twice = fmul float %w, 2.000000e+00
  br label %behind

behind:                                           ; preds = %yes, %entry
  %u = phi float [ %twice, %yes ], [ 0.000000e+00, %entry ]
  %sum = fadd float %v, %u
  store float %sum, ptr addrspace(1) %out, align 4
  ret void
}

attributes #0 = { nounwind }
