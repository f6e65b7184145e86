; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, ptr addrspace(1) align 4 %y, i32 %i, i32 %n) #0 {
entry:
  %w = sext i32 %i to i64
  %g = getelementptr inbounds i32, ptr addrspace(1) %x, i64 %w
  %v = load i32, ptr addrspace(1) %g, align 4
  %p = icmp ult i32 %v, %n
  br i1 %p, label %near, label %a

near:                                             ; preds = %entry
  %j = add nsw i32 %i, 1
  %w1 = sext i32 %j to i64
  %g1 = getelementptr inbounds i32, ptr addrspace(1) %x, i64 %w1
  store i32 1, ptr addrspace(1) %g1, align 4
  br label %a

a:                                                ; preds = %entry, %near
  %q = icmp ult i32 %v, 7
  br i1 %q, label %far, label %b

far:                                              ; preds = %a
  %m = add i32 %i, 2
  %w2 = sext i32 %m to i64
  %g2 = getelementptr inbounds i32, ptr addrspace(1) %x, i64 %w2
  store i32 2, ptr addrspace(1) %g2, align 4
  %g3 = getelementptr inbounds i32, ptr addrspace(1) %y, i64 %w2
  store i32 2, ptr addrspace(1) %g3, align 4
  br label %b

b:                                                ; preds = %a, %far
  %r = icmp ult i32 %v, 3
  br i1 %r, label %other, label %c

other:                                            ; preds = %b
  %l = add nsw i32 %i, 100000
  %w4 = sext i32 %l to i64
  %g4 = getelementptr inbounds i32, ptr addrspace(1) %y, i64 %w4
  store i32 3, ptr addrspace(1) %g4, align 4
  br label %c

c:                                                ; preds = %b, %other
  ret void
}

attributes #0 = { nounwind }
