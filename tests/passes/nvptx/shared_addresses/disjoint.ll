; opt=3
; four iterations of a window, whose counter is a multiple of four: k | 1 is k + 1
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, ptr addrspace(1) align 4 %y, i32 %i, i32 %n) #0 {
entry:
  br label %loop

loop:                                             ; preds = %entry, %c
  %k = phi i32 [ 0, %entry ], [ %next, %c ]
  %s0 = add nsw i32 %k, %i
  %p = icmp ult i32 %s0, %n
  br i1 %p, label %first, label %a

first:                                            ; preds = %loop
  %w0 = sext i32 %s0 to i64
  %g0 = getelementptr inbounds i32, ptr addrspace(1) %x, i64 %w0
  store i32 1, ptr addrspace(1) %g0, align 4
  br label %a

a:                                                ; preds = %loop, %first
  %k1 = or disjoint i32 %k, 1
  %s1 = add nsw i32 %k1, %i
  %q = icmp ult i32 %s1, %n
  br i1 %q, label %second, label %b

second:                                           ; preds = %a
  %w1 = sext i32 %s1 to i64
  %g1 = getelementptr inbounds i32, ptr addrspace(1) %x, i64 %w1
  store i32 2, ptr addrspace(1) %g1, align 4
  br label %b

b:                                                ; preds = %a, %second
  %k2 = or i32 %k, 2
  %s2 = add nsw i32 %k2, %i
  %r = icmp ult i32 %s2, %n
  br i1 %r, label %third, label %c

third:                                            ; preds = %b
  %w2 = sext i32 %s2 to i64
  %g2 = getelementptr inbounds i32, ptr addrspace(1) %x, i64 %w2
  store i32 3, ptr addrspace(1) %g2, align 4
  br label %c

c:                                                ; preds = %b, %third
  %next = add nuw nsw i32 %k, 4
  %e = icmp ult i32 %next, 400
  br i1 %e, label %loop, label %exit

exit:                                             ; preds = %c
  ret void
}

attributes #0 = { nounwind }
