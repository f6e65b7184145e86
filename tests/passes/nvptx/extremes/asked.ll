; opt=3
; Boxes that overlap: four extremes of numbers from in front of the loop, of which the comparisons ask. Not where one is read in front of the branch, nor where a comparison holds of nan, too.
define ptx_kernel void @k(ptr addrspace(1) align 4 %box, i32 %n, float %left, float %right, float %top, ptr addrspace(1) align 4 %out) #0 {
entry:
  br label %loop

loop:                                             ; preds = %join, %entry
  %k = phi i32 [ 0, %entry ], [ %next, %join ]
  %sum = phi float [ 0.000000e+00, %entry ], [ %more, %join ]
  %wide = sext i32 %k to i64
  %p = getelementptr float, ptr addrspace(1) %box, i64 %wide
  %x0 = load float, ptr addrspace(1) %p, align 4
  %p1 = getelementptr float, ptr addrspace(1) %p, i64 1
  %x1 = load float, ptr addrspace(1) %p1, align 4
  %a = fcmp olt float %x1, %right
  %least = select i1 %a, float %x1, float %right
  %b = fcmp ogt float %x0, %left
  %most = select i1 %b, float %x0, float %left
  %w = fsub float %least, %most
  %d = fcmp ogt float %x0, %top
  %other = select i1 %d, float %x0, float %top
  %h = fsub float %x1, %other
  %positive = fcmp ogt float %w, 0.000000e+00
  %high = fcmp ogt float %h, 0.000000e+00
  %both = select i1 %positive, i1 %high, i1 false
  br i1 %both, label %inside, label %join

inside:                                           ; preds = %loop
  %area = fmul float %w, %h
  %new = fadd float %sum, %area
  br label %join

join:                                             ; preds = %inside, %loop
  %more = phi float [ %sum, %loop ], [ %new, %inside ]
  %next = add nsw i32 %k, 2
  %again = icmp slt i32 %next, %n
  br i1 %again, label %loop, label %behind

behind:                                           ; preds = %rest, %join
  %m = phi i32 [ 0, %join ], [ %after, %rest ]
  %total = phi float [ %more, %join ], [ %value, %rest ]
  %wide2 = sext i32 %m to i64
  %q = getelementptr float, ptr addrspace(1) %box, i64 %wide2
  %y0 = load float, ptr addrspace(1) %q, align 4
  %q1 = getelementptr float, ptr addrspace(1) %q, i64 1
  %y1 = load float, ptr addrspace(1) %q1, align 4
  %e = fcmp olt float %y1, %right
  %smaller = select i1 %e, float %y1, float %right
  %f = fcmp ogt float %y0, %left
  %larger = select i1 %f, float %y0, float %left
  store float %smaller, ptr addrspace(1) %out, align 4
  %g = fcmp ogt float %y0, %top
  %third = select i1 %g, float %y0, float %top
  %less = fcmp olt float %smaller, %larger
  %unordered = fcmp ult float %third, 1.000000e+00
  %all = and i1 %less, %unordered
  br i1 %all, label %here, label %rest

here:                                             ; preds = %behind
  %v = fadd float %total, %third
  br label %rest

rest:                                             ; preds = %here, %behind
  %value = phi float [ %total, %behind ], [ %v, %here ]
  %after = add nsw i32 %m, 2
  %once = icmp slt i32 %after, %n
  br i1 %once, label %behind, label %done

done:                                             ; preds = %rest
  store float %value, ptr addrspace(1) %out, align 4
  ret void
}

attributes #0 = { nounwind }
