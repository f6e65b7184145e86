; opt=3
; Masked iterations: a comparison that is asked by a branch over a load and by a selection is one
; predicate; not where what is chosen takes two predicates for each comparison of float64.
define ptx_kernel void @sums(ptr addrspace(1) align 4 %x, i32 %n, ptr addrspace(1) align 4 %out) #0 {
entry:
  br label %loop

loop:                                             ; preds = %join, %entry
  %p = phi ptr addrspace(1) [ %x, %entry ], [ %q, %join ]
  %a0 = phi float [ 0.000000e+00, %entry ], [ %a3, %join ]
  %left = phi i32 [ %n, %entry ], [ %fewer, %join ]
  %has1 = icmp ugt i32 %left, 1
  %has2 = icmp ugt i32 %left, 2
  %p1 = getelementptr inbounds float, ptr addrspace(1) %p, i64 1
  %p2 = getelementptr inbounds float, ptr addrspace(1) %p, i64 2
  %q = getelementptr inbounds float, ptr addrspace(1) %p, i64 3
  %v0 = load float, ptr addrspace(1) %p, align 4
  br i1 %has1, label %yes1, label %behind1

yes1:                                             ; preds = %loop
  %l1 = load float, ptr addrspace(1) %p1, align 4
  br label %behind1

behind1:                                          ; preds = %yes1, %loop
  %v1 = phi float [ %l1, %yes1 ], [ poison, %loop ]
  br i1 %has2, label %yes2, label %join

yes2:                                             ; preds = %behind1
  %l2 = load float, ptr addrspace(1) %p2, align 4
  br label %join

join:                                             ; preds = %yes2, %behind1
  %v2 = phi float [ %l2, %yes2 ], [ poison, %behind1 ]
  %a1 = fadd float %a0, %v0
  %m1 = fadd float %a1, %v1
  %a2 = select i1 %has1, float %m1, float %a1
  %m2 = fadd float %a2, %v2
  %a3 = select i1 %has2, float %m2, float %a2
  %fewer = sub i32 %left, 3
  %more = icmp ugt i32 %left, 3
  br i1 %more, label %loop, label %end

end:                                              ; preds = %join
  store float %a3, ptr addrspace(1) %out, align 4
  ret void
}

define ptx_kernel void @largest(ptr addrspace(1) align 8 %x, i32 %n, ptr addrspace(1) align 8 %out) #0 {
entry:
  br label %loop

loop:                                             ; preds = %join, %entry
  %p = phi ptr addrspace(1) [ %x, %entry ], [ %q, %join ]
  %a0 = phi double [ 0.000000e+00, %entry ], [ %a3, %join ]
  %left = phi i32 [ %n, %entry ], [ %fewer, %join ]
  %has1 = icmp ugt i32 %left, 1
  %has2 = icmp ugt i32 %left, 2
  %p1 = getelementptr inbounds double, ptr addrspace(1) %p, i64 1
  %p2 = getelementptr inbounds double, ptr addrspace(1) %p, i64 2
  %q = getelementptr inbounds double, ptr addrspace(1) %p, i64 3
  %v0 = load double, ptr addrspace(1) %p, align 8
  br i1 %has1, label %yes1, label %behind1

yes1:                                             ; preds = %loop
  %l1 = load double, ptr addrspace(1) %p1, align 8
  br label %behind1

behind1:                                          ; preds = %yes1, %loop
  %v1 = phi double [ %l1, %yes1 ], [ poison, %loop ]
  br i1 %has2, label %yes2, label %join

yes2:                                             ; preds = %behind1
  %l2 = load double, ptr addrspace(1) %p2, align 8
  br label %join

join:                                             ; preds = %yes2, %behind1
  %v2 = phi double [ %l2, %yes2 ], [ poison, %behind1 ]
  %g0 = fcmp ogt double %v0, %a0
  %a1 = select i1 %g0, double %v0, double %a0
  %g1 = fcmp ogt double %v1, %a1
  %m1 = select i1 %g1, double %v1, double %a1
  %a2 = select i1 %has1, double %m1, double %a1
  %g2 = fcmp ogt double %v2, %a2
  %m2 = select i1 %g2, double %v2, double %a2
  %a3 = select i1 %has2, double %m2, double %a2
  %fewer = sub i32 %left, 3
  %more = icmp ugt i32 %left, 3
  br i1 %more, label %loop, label %end

end:                                              ; preds = %join
  store double %a3, ptr addrspace(1) %out, align 8
  ret void
}

attributes #0 = { nounwind }
