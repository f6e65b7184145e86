; opt=3
; A row's comparison, in front of the loop over its places, stays a predicate: the generator would
; compare the larger of both numbers in each iteration. One of another kind is left alone.
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, i32 %rows, i32 %cols, i32 %guard, i32 %wide, ptr addrspace(1) align 4 %out) #0 {
entry:
  br label %row

row:
  %r = phi i32 [ 0, %entry ], [ %r1, %next ]
  %s = phi float [ 0.0, %entry ], [ %s2, %next ]
  %far = add i32 %r, %guard
  %above = icmp uge i32 %far, %wide
  %below = icmp slt i32 %far, %wide
  %m = mul i32 %r, %cols
  br label %place

place:
  %c = phi i32 [ 0, %row ], [ %c1, %joined ]
  %s0 = phi float [ %s, %row ], [ %s2, %joined ]
  %side = add i32 %c, %guard
  %beside = icmp uge i32 %side, %wide
  %either = or i1 %above, %beside
  %both = and i1 %below, %beside
  %any = xor i1 %either, %both
  br i1 %any, label %take, label %joined

take:
  %n = add i32 %m, %c
  %i = sext i32 %n to i64
  %p = getelementptr float, ptr addrspace(1) %x, i64 %i
  %v = load float, ptr addrspace(1) %p, align 4
  %s1 = fadd float %s0, %v
  br label %joined

joined:
  %s2 = phi float [ %s0, %place ], [ %s1, %take ]
  %c1 = add nuw nsw i32 %c, 1
  %e = icmp sge i32 %c1, %cols
  br i1 %e, label %next, label %place

next:
  %r1 = add nuw nsw i32 %r, 1
  %re = icmp sge i32 %r1, %rows
  br i1 %re, label %done, label %row

done:
  store float %s2, ptr addrspace(1) %out, align 4
  ret void
}

attributes #0 = { nounwind }
