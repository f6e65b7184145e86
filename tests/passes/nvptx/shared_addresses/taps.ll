; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, ptr addrspace(1) align 4 %out, i32 %row, i32 %n) #0 {
entry:
  br label %loop

loop:                                             ; preds = %entry, %latch
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  %t = phi i32 [ 0, %entry ], [ %sum, %latch ]
  %p = icmp ult i32 %i, %n
  br i1 %p, label %first, label %a

first:                                            ; preds = %loop
  %s0 = add nsw i32 %row, %i
  %w0 = sext i32 %s0 to i64
  %g0 = getelementptr inbounds i32, ptr addrspace(1) %x, i64 %w0
  %v0 = load i32, ptr addrspace(1) %g0, align 4
  br label %a

a:                                                ; preds = %loop, %first
  %t0 = phi i32 [ %t, %loop ], [ %v0, %first ]
  %j = add nsw i32 %i, 1
  %q = icmp ult i32 %j, %n
  br i1 %q, label %second, label %latch

second:                                           ; preds = %a
  %s1 = add nsw i32 %j, %row
  %w1 = zext nneg i32 %s1 to i64
  %g1 = getelementptr inbounds i32, ptr addrspace(1) %x, i64 %w1
  %v1 = load i32, ptr addrspace(1) %g1, align 4
  %u1 = add i32 %t0, %v1
  br label %latch

latch:                                            ; preds = %a, %second
  %sum = phi i32 [ %t0, %a ], [ %u1, %second ]
  %next = add nsw i32 %i, 2
  %r = icmp slt i32 %next, 100
  br i1 %r, label %loop, label %done

done:                                             ; preds = %latch
  store i32 %sum, ptr addrspace(1) %out, align 4
  ret void
}

attributes #0 = { nounwind }
