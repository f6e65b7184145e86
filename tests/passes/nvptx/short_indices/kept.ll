; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 8 %list, i32 range(i32 0, -2147483648) %n, ptr addrspace(1) align 8 %starts, ptr addrspace(1) align 8 %out) #0 {
entry:
  %wide = zext nneg i32 %n to i64
  %start = load i64, ptr addrspace(1) %starts, align 8
  br label %jump

jump:                                             ; preds = %jump, %entry
  %i = phi i64 [ %start, %entry ], [ %next, %jump ]
  %negative = icmp slt i64 %i, 0
  %by = select i1 %negative, i64 %wide, i64 0
  %sum = add i64 %by, %i
  %up = shl i64 %sum, 32
  %index = ashr exact i64 %up, 32
  %p = getelementptr inbounds i64, ptr addrspace(1) %list, i64 %index
  %v = load i64, ptr addrspace(1) %p, align 8, !pyptx.in_range !0
  %next = add i64 %i, %v
  %on = icmp slt i64 %next, 1000000000000
  br i1 %on, label %jump, label %count

count:                                            ; preds = %skip, %jump
  %k = phi i64 [ %start, %jump ], [ %k.1, %skip ]
  %odd = trunc i64 %k to i1
  br i1 %odd, label %read, label %skip

read:                                             ; preds = %count
  %negative.k = icmp slt i64 %k, 0
  %by.k = select i1 %negative.k, i64 %wide, i64 0
  %sum.k = add i64 %by.k, %k
  %up.k = shl i64 %sum.k, 32
  %index.k = ashr exact i64 %up.k, 32
  %p.k = getelementptr inbounds i64, ptr addrspace(1) %list, i64 %index.k
  store i64 %k, ptr addrspace(1) %p.k, align 8, !pyptx.in_range !0
  br label %skip

skip:                                             ; preds = %read, %count
  %k.1 = add i64 %k, 1
  %on.k = icmp slt i64 %k.1, %next
  br i1 %on.k, label %count, label %unmarked

unmarked:                                         ; preds = %unmarked, %skip
  %u = phi i64 [ %start, %skip ], [ %u.1, %unmarked ]
  %negative.u = icmp slt i64 %u, 0
  %by.u = select i1 %negative.u, i64 %wide, i64 0
  %sum.u = add i64 %by.u, %u
  %up.u = shl i64 %sum.u, 32
  %index.u = ashr exact i64 %up.u, 32
  %p.u = getelementptr inbounds i64, ptr addrspace(1) %out, i64 %index.u
  store i64 %u, ptr addrspace(1) %p.u, align 8
  %u.1 = add i64 %u, 1
  %on.u = icmp slt i64 %u.1, %next
  br i1 %on.u, label %unmarked, label %done

done:                                             ; preds = %unmarked
  ret void
}

attributes #0 = { nounwind }

!0 = !{}
