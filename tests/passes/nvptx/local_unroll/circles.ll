; opt=3
; As many rounds as are asked for, through an array that is filled with as many words as there are:
; four rounds at once, and what is left of them.
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, ptr addrspace(1) align 4 %out, i32 %words, i32 %rounds) #0 {
entry:
  %w = alloca [16 x i8], align 4
  br label %fill

fill:                                             ; preds = %fill, %entry
  %k = phi i32 [ 0, %entry ], [ %k.next, %fill ]
  %p.x = getelementptr inbounds i32, ptr addrspace(1) %x, i32 %k
  %v = load i32, ptr addrspace(1) %p.x, align 4
  %p.k = getelementptr inbounds i32, ptr %w, i32 %k
  store i32 %v, ptr %p.k, align 4
  %k.next = add nuw nsw i32 %k, 1
  %more = icmp slt i32 %k.next, %words
  br i1 %more, label %fill, label %round

round:                                            ; preds = %round, %fill
  %r = phi i32 [ 0, %fill ], [ %r.next, %round ]
  %sum = phi i32 [ 0, %fill ], [ %sum.next, %round ]
  %at = and i32 %r, 3
  %p = getelementptr inbounds i32, ptr %w, i32 %at
  %old = load i32, ptr %p, align 4
  %other = add nuw nsw i32 %r, 3
  %at.other = and i32 %other, 3
  %p.other = getelementptr inbounds i32, ptr %w, i32 %at.other
  %before = load i32, ptr %p.other, align 4
  %new = sub i32 %old, %before
  store i32 %new, ptr %p, align 4
  %sum.next = xor i32 %sum, %new
  %r.next = add nuw nsw i32 %r, 1
  %on = icmp ne i32 %r.next, %rounds
  br i1 %on, label %round, label %done

done:                                             ; preds = %round
  %last = phi i32 [ %sum.next, %round ]
  store i32 %last, ptr addrspace(1) %out, align 4
  ret void
}

attributes #0 = { nounwind }
