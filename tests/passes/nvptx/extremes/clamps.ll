; opt=3
; Clamps by numbers from in front of the loop, of which one changes in the outer one; what the minimum keeps where one is nan is not in the loop; a constant; float64; no loop.
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, float %low, float %high, double %d, i32 %n, ptr addrspace(1) align 8 %out) #0 {
entry:
  %o = fcmp olt float %high, %low
  %outside = select i1 %o, float %high, float %low
  br label %row

row:
  %r = phi i32 [ 0, %entry ], [ %r.next, %row.end ]
  %pr = getelementptr inbounds float, ptr addrspace(1) %x, i32 %r
  %most = load float, ptr addrspace(1) %pr, align 4
  br label %col

col:
  %c = phi i32 [ 0, %row ], [ %c.next, %col ]
  %pc = getelementptr inbounds float, ptr addrspace(1) %x, i32 %c
  %v = load volatile float, ptr addrspace(1) %pc, align 4
  %below = fcmp olt float %v, %low
  %atleast = select i1 %below, float %low, float %v
  %above = fcmp olt float %most, %atleast
  %clamped = select i1 %above, float %most, float %atleast
  %other = fcmp olt float %v, %high
  %kept = select i1 %other, float %v, float %high
  %e = fcmp olt float %v, 1.000000e+00
  %constant = select i1 %e, float 1.000000e+00, float %v
  %w = fpext float %v to double
  %f = fcmp olt double %w, %d
  %long = select i1 %f, double %d, double %w
  store volatile float %clamped, ptr addrspace(1) %out, align 4
  store volatile float %kept, ptr addrspace(1) %out, align 4
  store volatile float %constant, ptr addrspace(1) %out, align 4
  store volatile double %long, ptr addrspace(1) %out, align 8
  %c.next = add nuw nsw i32 %c, 1
  %c.more = icmp slt i32 %c.next, %n
  br i1 %c.more, label %col, label %row.end

row.end:
  %r.next = add nuw nsw i32 %r, 1
  %r.more = icmp slt i32 %r.next, %n
  br i1 %r.more, label %row, label %end

end:
  store float %outside, ptr addrspace(1) %out, align 4
  ret void
}
attributes #0 = { nounwind }
