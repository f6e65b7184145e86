; opt=3
; An array that stays in memory: its schedule is unrolled, the loop that data end is not.
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, ptr addrspace(1) align 4 %out, i32 %n, i32 %place) #0 {
entry:
  %w = alloca [32 x i8], align 4
  %p.any = getelementptr inbounds i32, ptr %w, i32 %place
  store i32 1, ptr %p.any, align 4
  br label %schedule

schedule:                                         ; preds = %schedule, %entry
  %t = phi i32 [ 2, %entry ], [ %t.next, %schedule ]
  %before = sub nuw nsw i32 %t, 2
  %p.before = getelementptr inbounds i32, ptr %w, i32 %before
  %old = load i32, ptr %p.before, align 4
  %new = mul i32 %old, 5
  %p = getelementptr inbounds i32, ptr %w, i32 %t
  store i32 %new, ptr %p, align 4
  %t.next = add nuw nsw i32 %t, 1
  %more = icmp samesign ult i32 %t.next, 6
  br i1 %more, label %schedule, label %rounds

rounds:                                           ; preds = %rounds, %schedule
  %r = phi i32 [ 0, %schedule ], [ %r.next, %rounds ]
  %sum = phi i32 [ 0, %schedule ], [ %sum.next, %rounds ]
  %p.round = getelementptr inbounds i32, ptr %w, i32 %r
  %v = load i32, ptr %p.round, align 4
  %sum.next = xor i32 %sum, %v
  %r.next = add nuw nsw i32 %r, 1
  %again = icmp samesign ult i32 %r.next, 8
  br i1 %again, label %rounds, label %moves

moves:                                            ; preds = %moves, %rounds
  %k = phi i32 [ 1, %rounds ], [ %k.next, %moves ]
  %last = sub nuw nsw i32 %k, 1
  %p.last = getelementptr inbounds i32, ptr %w, i32 %last
  %moved = load i32, ptr %p.last, align 4
  %p.k = getelementptr inbounds i32, ptr %w, i32 %k
  store i32 %moved, ptr %p.k, align 4
  %k.next = add nuw nsw i32 %k, 1
  %on = icmp slt i32 %k.next, %n
  br i1 %on, label %moves, label %done

done:                                             ; preds = %moves
  store i32 %sum.next, ptr addrspace(1) %out, align 4
  ret void
}

attributes #0 = { nounwind }
