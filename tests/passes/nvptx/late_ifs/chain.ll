; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 1 %text, ptr addrspace(1) align 4 %out, i32 %n, i32 %begin, i32 %word) #0 {
entry:
  br label %loop

loop:                                             ; preds = %join, %entry
  %p = phi i32 [ 0, %entry ], [ %next, %join ]
  %sum = phi i32 [ 0, %entry ], [ %more, %join ]
  %inside = icmp slt i32 %p, %n
  br i1 %inside, label %read, label %behind

read:                                             ; preds = %loop
  %at = add nsw i32 %begin, %p
  %at.wide = sext i32 %at to i64
  %address = getelementptr i8, ptr addrspace(1) %text, i64 %at.wide
  %byte = load i8, ptr addrspace(1) %address, align 1
  %from = zext i8 %byte to i32
  br label %join

behind:                                           ; preds = %loop
  %last = icmp eq i32 %p, %n
  br i1 %last, label %join, label %rest

rest:                                             ; preds = %behind
  %count = and i32 %p, 31
  %part = lshr i32 %word, %count
  %low = and i32 %part, 255
  br label %join

join:                                             ; preds = %rest, %behind, %read
  %v = phi i32 [ %from, %read ], [ 128, %behind ], [ %low, %rest ]
  %shifted = shl i32 %sum, 8
  %more = or i32 %shifted, %v
  %next = add nuw nsw i32 %p, 1
  %again = icmp slt i32 %next, 64
  br i1 %again, label %loop, label %done

done:                                             ; preds = %join
  store i32 %more, ptr addrspace(1) %out, align 4
  ret void
}

attributes #0 = { nounwind }
