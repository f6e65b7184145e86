; opt=3
; Left alone: a sum that may wrap around, a step of 2, a bound that the loop changes, an order that
; says nothing of the next number, a loop around another, and what is compared behind the step; a
; search, which is left from two places.
define ptx_kernel void @k(ptr addrspace(1) align 4 %out, i32 %first, i32 %last) #0 {
entry:
  br label %wraps

wraps:
  %a = phi i32 [ %first, %entry ], [ %a.next, %wraps ]
  store i32 %a, ptr addrspace(1) %out, align 4
  %a.next = add nuw i32 %a, 1
  %a.more = icmp slt i32 %a, %last
  br i1 %a.more, label %wraps, label %twos

twos:
  %b = phi i32 [ %first, %wraps ], [ %b.next, %twos ]
  store i32 %b, ptr addrspace(1) %out, align 4
  %b.next = add nsw i32 %b, 2
  %b.more = icmp slt i32 %b, %last
  br i1 %b.more, label %twos, label %moves

moves:
  %c = phi i32 [ %first, %twos ], [ %c.next, %moves ]
  %bound = load i32, ptr addrspace(1) %out, align 4
  %c.next = add nsw i32 %c, 1
  %c.more = icmp slt i32 %c, %bound
  br i1 %c.more, label %moves, label %order

order:
  %d = phi i32 [ %first, %moves ], [ %d.next, %order ]
  store i32 %d, ptr addrspace(1) %out, align 4
  %d.next = add nsw i32 %d, 1
  %d.more = icmp sgt i32 %d, %last
  br i1 %d.more, label %order, label %around

around:
  %e = phi i32 [ %first, %order ], [ %e.next, %around.end ]
  br label %inner

inner:
  %f = phi i32 [ 0, %around ], [ %f.next, %inner ]
  store i32 %f, ptr addrspace(1) %out, align 4
  %f.next = add nsw i32 %f, 1
  %f.more = icmp slt i32 %f.next, %last
  br i1 %f.more, label %inner, label %around.end

around.end:
  %e.next = add nsw i32 %e, 1
  %e.more = icmp slt i32 %e, %last
  br i1 %e.more, label %around, label %search

search:
  %g = phi i32 [ 0, %around.end ], [ %g.next, %search.end ]
  %found = load i32, ptr addrspace(1) %out, align 4
  %g.next = add nsw i32 %g, 1
  %g.found = icmp eq i32 %found, 0
  br i1 %g.found, label %done, label %search.end

search.end:
  %g.more = icmp slt i32 %g, %last
  br i1 %g.more, label %search, label %done

done:
  ret void
}

attributes #0 = { nounwind }
