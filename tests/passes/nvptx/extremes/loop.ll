; opt=3
; A maximum that begins with a number, in a loop and behind it, the least of what is loaded and a
; number, and a clamp.
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, i32 range(i32 1, -2147483648) %n, ptr addrspace(1) align 4 %out) #0 {
entry:
  br label %loop

loop:                                             ; preds = %loop, %entry
  %k = phi i32 [ %next, %loop ], [ 0, %entry ]
  %best = phi float [ %second, %loop ], [ 0xFFF0000000000000, %entry ]
  %low = phi float [ %lower, %loop ], [ 1.000000e+02, %entry ]
  %p = getelementptr inbounds nuw float, ptr addrspace(1) %x, i32 %k
  %v = load float, ptr addrspace(1) %p, align 4
  %q = getelementptr inbounds nuw i8, ptr addrspace(1) %p, i64 4
  %w = load float, ptr addrspace(1) %q, align 4
  %above = fcmp ogt float %v, %best
  %first = select i1 %above, float %v, float %best
  %above2 = fcmp olt float %first, %w
  %second = select i1 %above2, float %w, float %first
  %kept = fcmp ule float %low, %v
  %lower = select i1 %kept, float %low, float %v
  %next = add nuw nsw i32 %k, 2
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %end

end:                                              ; preds = %loop
  %other = call float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %second, i32 1, i32 31)
  %above3 = fcmp ogt float %other, %second
  %whole = select i1 %above3, float %other, float %second
  %many = fcmp ogt float %whole, 1.000000e+00
  %clamped = select i1 %many, float 1.000000e+00, float %whole
  %twice = fadd float %clamped, %lower
  store float %twice, ptr addrspace(1) %out, align 4
  ret void
}

declare float @llvm.nvvm.shfl.sync.bfly.f32(i32, float, i32, i32)

attributes #0 = { nounwind }
