; opt=3
; One of several comparisons: one condition of a selection; not with a flag that is no comparison, nor with a comparison that is read elsewhere.
define ptx_kernel void @k(i32 %c, i32 %n, i64 %m, i1 %flag, ptr addrspace(1) align 8 %out) #0 {
entry:
  %a = icmp eq i32 %c, 40
  %b = icmp eq i32 %c, 91
  %d = icmp eq i32 %c, 123
  %ab = or i1 %a, %b
  %abd = or i1 %ab, %d
  %v = select i1 %abd, i32 -1, i32 %n
  store i32 %v, ptr addrspace(1) %out, align 8
  %e = icmp eq i32 %c, 41
  %f = icmp slt i32 %c, 0
  %ef = or i1 %e, %f
  %w = select i1 %ef, i64 7, i64 %m
  %second = getelementptr inbounds i8, ptr addrspace(1) %out, i64 8
  store i64 %w, ptr addrspace(1) %second, align 8
  %g = icmp eq i32 %c, 42
  %gf = or i1 %g, %flag
  %x = select i1 %gf, i32 1, i32 %v
  %h = icmp eq i32 %c, 43
  %i = icmp eq i32 %c, 44
  %hi = or i1 %h, %i
  %y = select i1 %hi, i32 %x, i32 %n
  %z = select i1 %h, i32 5, i32 %y
  %third = getelementptr inbounds i8, ptr addrspace(1) %out, i64 16
  store i32 %z, ptr addrspace(1) %third, align 8
  ret void
}

attributes #0 = { nounwind }
