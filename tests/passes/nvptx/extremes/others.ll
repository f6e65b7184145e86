; opt=3
; Not: what each iteration reads and begins with a number that was loaded, the order in which a nan
; is taken, float64, what begins with another number in each iteration.
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, i32 range(i32 1, -2147483648) %n, ptr addrspace(1) align 4 %out, ptr addrspace(1) align 8 %y) #0 {
entry:
  %begin = load float, ptr addrspace(1) %x, align 4
  %second.p = getelementptr inbounds nuw float, ptr addrspace(1) %x, i32 1
  %second = load float, ptr addrspace(1) %second.p, align 4
  %which = icmp sgt i32 %n, 9
  %either = select i1 %which, float %begin, float %second
  br label %loop

loop:                                             ; preds = %loop, %entry
  %low = phi float [ %lower, %loop ], [ poison, %entry ]
  %root = phi float [ %v, %loop ], [ %either, %entry ]
  %k = phi i32 [ %next, %loop ], [ 0, %entry ]
  %best = phi float [ %first, %loop ], [ %begin, %entry ]
  %taken = phi float [ %takes, %loop ], [ 0.000000e+00, %entry ]
  %sums = phi float [ %seen, %loop ], [ 0.000000e+00, %entry ]
  %wide = phi double [ %wider, %loop ], [ 0.000000e+00, %entry ]
  %p = getelementptr inbounds nuw float, ptr addrspace(1) %x, i32 %k
  %v = load float, ptr addrspace(1) %p, align 4
  %q = getelementptr inbounds nuw double, ptr addrspace(1) %y, i32 %k
  %w = load double, ptr addrspace(1) %q, align 8
  %above = fcmp ogt float %v, %best
  %first = select i1 %above, float %v, float %best
  %under = fcmp olt float %v, %low
  %lower0 = select i1 %under, float %v, float %low
  %first.time = icmp eq i32 %k, 0
  %lower = select i1 %first.time, float %root, float %lower0
  %below = fcmp ogt float %taken, %v
  %takes = select i1 %below, float %taken, float %v
  %seen = fadd float %sums, %first
  %higher = fcmp ogt double %w, %wide
  %wider = select i1 %higher, double %w, double %wide
  %next = add nuw nsw i32 %k, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %end

end:                                              ; preds = %loop
  %sum0 = fadd float %seen, %lower
  %sum = fadd float %sum0, %takes
  %narrow = fptrunc double %wider to float
  %sum2 = fadd float %sum, %narrow
  store float %sum2, ptr addrspace(1) %out, align 4
  ret void
}

attributes #0 = { nounwind }
