; opt=3
; A place needs the comparison, too, but the next number does not wait for it.
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, i32 range(i32 1, -2147483648) %n, ptr addrspace(1) align 4 %out) #0 {
entry:
  br label %loop

loop:                                             ; preds = %loop, %entry
  %k = phi i32 [ %next, %loop ], [ 0, %entry ]
  %least = phi float [ %less, %loop ], [ 0x7FF0000000000000, %entry ]
  %place = phi i32 [ %now, %loop ], [ 0, %entry ]
  %p = getelementptr inbounds nuw float, ptr addrspace(1) %x, i32 %k
  %v = load float, ptr addrspace(1) %p, align 4
  %here = fcmp olt float %v, %least
  %less = select i1 %here, float %v, float %least
  %now = select i1 %here, i32 %k, i32 %place
  %next = add nuw nsw i32 %k, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %end

end:                                              ; preds = %loop
  %from = sitofp i32 %now to float
  %sum = fadd float %less, %from
  store float %sum, ptr addrspace(1) %out, align 4
  ret void
}

attributes #0 = { nounwind }
