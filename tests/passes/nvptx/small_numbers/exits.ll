; opt=3
; A number of 32 bits that is extended for what is behind the loop, at each place where that is left.
define ptx_kernel void @k(ptr addrspace(1) align 4 %in, ptr addrspace(1) align 8 %out, i32 %n) #0 {
entry:
  br label %loop

loop:                                             ; preds = %entry, %latch
  %x = phi i32 [ 0, %entry ], [ %more, %latch ]
  %k = phi i32 [ 0, %entry ], [ %next, %latch ]
  %wide = sext i32 %x to i64
  %at = sext i32 %k to i64
  %p = getelementptr i32, ptr addrspace(1) %in, i64 %at
  %v = load i32, ptr addrspace(1) %p, align 4
  %stop = icmp slt i32 %v, 0
  br i1 %stop, label %done, label %latch

latch:                                            ; preds = %loop
  %more = or i32 %x, %v
  %next = add nsw i32 %k, 1
  %wider = zext nneg i32 %more to i64
  %goes.on = icmp slt i32 %next, %n
  br i1 %goes.on, label %loop, label %done

done:                                             ; preds = %loop, %latch
  %end = phi i64 [ %wide, %loop ], [ %wider, %latch ]
  %far = shl i64 %end, 8
  store i64 %far, ptr addrspace(1) %out, align 8
  ret void
}

attributes #0 = { nounwind }
