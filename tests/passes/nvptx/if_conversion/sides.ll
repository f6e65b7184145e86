; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, float %t) #0 {
entry:
  %x = load float, ptr addrspace(1) %0, align 4
  %high = fcmp ogt float %x, %t
  br i1 %high, label %above, label %below

above:                                            ; preds = %entry
  %less = fsub float %x, %t
  br label %join

below:                                            ; preds = %entry
  %more = fadd float %x, %t
  %half = fmul float %more, 5.000000e-01
  br label %join

join:                                             ; preds = %above, %below
  %r = phi float [ %less, %above ], [ %half, %below ]
  %n = phi i32 [ 1, %above ], [ 2, %below ]
  %same = phi float [ %t, %above ], [ %t, %below ]
  %f = sitofp i32 %n to float
  %s = fadd float %r, %f
  %u = fadd float %s, %same
  store float %u, ptr addrspace(1) %0, align 4
  ret void
}

attributes #0 = { nounwind }
