; opt=3
; The two least of a loop, and the two greatest: two instructions for the second. Not what begins the
; other way round.
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, i32 range(i32 1, -2147483648) %n, ptr addrspace(1) align 4 %out) #0 {
entry:
  br label %loop

loop:                                             ; preds = %loop, %entry
  %k = phi i32 [ %next, %loop ], [ 0, %entry ]
  %a = phi float [ %a1, %loop ], [ 9.000000e+00, %entry ]
  %b = phi float [ %b1, %loop ], [ 9.000000e+00, %entry ]
  %c = phi float [ %c2, %loop ], [ -1.000000e+00, %entry ]
  %d = phi float [ %d2, %loop ], [ -2.000000e+00, %entry ]
  %e = phi float [ %e1, %loop ], [ 2.000000e+00, %entry ]
  %f = phi float [ %f1, %loop ], [ 1.000000e+00, %entry ]
  %p = getelementptr inbounds nuw float, ptr addrspace(1) %x, i32 %k
  %v = load float, ptr addrspace(1) %p, align 4
  %va = fcmp olt float %v, %a
  %vb = fcmp olt float %v, %b
  %least = select i1 %vb, float %v, float %b
  %b1 = select i1 %va, float %a, float %least
  %a1 = select i1 %va, float %v, float %a
  %vc = fcmp ogt float %v, %c
  %vd = fcmp ogt float %v, %d
  %most = select i1 %vd, float %v, float %d
  %d1 = select i1 %vc, float %c, float %most
  %c1 = select i1 %vc, float %v, float %c
  %w = fneg float %v
  %wc = fcmp olt float %c1, %w
  %wd = fcmp ogt float %w, %d1
  %most2 = select i1 %wd, float %w, float %d1
  %d2 = select i1 %wc, float %c1, float %most2
  %wc2 = fcmp ogt float %w, %c1
  %c2 = select i1 %wc2, float %w, float %c1
  %ve = fcmp olt float %v, %e
  %vf = fcmp olt float %v, %f
  %less = select i1 %vf, float %v, float %f
  %f1 = select i1 %ve, float %e, float %less
  %e1 = select i1 %ve, float %v, float %e
  %next = add nuw nsw i32 %k, 1
  %again = icmp slt i32 %next, %n
  br i1 %again, label %loop, label %end

end:                                              ; preds = %loop
  %s1 = fsub float %b1, %a1
  %s2 = fsub float %c2, %d2
  %s3 = fsub float %f1, %e1
  %s4 = fadd float %s1, %s2
  %s = fadd float %s3, %s4
  store float %s, ptr addrspace(1) %out, align 4
  ret void
}

attributes #0 = { nounwind }
