; opt=3
; Orders with a sign, either operand; a condition that the loop does not change goes into the bound; both in front of the outer loop where that changes neither.
define ptx_kernel void @k(ptr addrspace(1) align 4 %out, i64 %fixed, i64 %far, i1 %ask, i32 %n) #0 {
entry:
  br label %row

row:
  %r = phi i32 [ 0, %entry ], [ %r.next, %row.end ]
  %wide.r = zext nneg i32 %r to i64
  %changes = add i64 %wide.r, %far
  br label %col

col:
  %c = phi i32 [ 0, %row ], [ %c.next, %col ]
  %state = mul i32 %c, 1664525
  %high = lshr i32 %state, 8
  %wide = zext nneg i32 %high to i64
  %less = icmp slt i64 %wide, %fixed
  %both = select i1 %ask, i1 %less, i1 false
  %more = icmp sgt i64 %changes, %wide
  %small = and i32 %state, 15
  %low = sub nsw i32 %small, 8
  %wide.low = sext i32 %low to i64
  %atleast = icmp sge i64 %wide.low, %far
  %atmost = icmp sle i64 %wide.low, %changes
  %a = xor i1 %both, %more
  %b = xor i1 %atleast, %atmost
  %ab = xor i1 %a, %b
  %v = zext i1 %ab to i32
  store i32 %v, ptr addrspace(1) %out, align 4
  %c.next = add nuw nsw i32 %c, 1
  %c.more = icmp slt i32 %c.next, %n
  br i1 %c.more, label %col, label %row.end

row.end:
  %r.next = add nuw nsw i32 %r, 1
  %r.more = icmp slt i32 %r.next, %n
  br i1 %r.more, label %row, label %end

end:
  ret void
}
attributes #0 = { nounwind }
