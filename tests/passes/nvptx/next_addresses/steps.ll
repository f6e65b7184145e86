; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 4 %keys, ptr addrspace(1) align 4 %out, i32 %n, i32 %key) #0 {
entry:
  %some = icmp sgt i32 %n, 0
  br i1 %some, label %loop, label %done

loop:                                             ; preds = %loop, %entry
  %low = phi i32 [ 0, %entry ], [ %low.next, %loop ]
  %high = phi i32 [ %n, %entry ], [ %high.next, %loop ]
  %sum = add i32 %low, %high
  %middle = lshr i32 %sum, 1
  %wide = zext nneg i32 %middle to i64
  %p = getelementptr i32, ptr addrspace(1) %keys, i64 %wide
  %v = load i32, ptr addrspace(1) %p, align 4
  %less = icmp slt i32 %v, %key
  %above = add i32 %middle, 1
  %low.next = select i1 %less, i32 %above, i32 %low
  %high.next = select i1 %less, i32 %high, i32 %middle
  %again = icmp slt i32 %low.next, %high.next
  br i1 %again, label %loop, label %done

done:                                             ; preds = %loop, %entry
  %at = phi i32 [ 0, %entry ], [ %low.next, %loop ]
  store i32 %at, ptr addrspace(1) %out, align 4
  br label %walk

walk:                                             ; preds = %more, %done
  %w = phi i32 [ %at, %done ], [ %w.next, %more ]
  %w.wide = sext i32 %w to i64
  %q = getelementptr i32, ptr addrspace(1) %keys, i64 %w.wide
  %key.w = load i32, ptr addrspace(1) %q, align 4
  %found = icmp eq i32 %key.w, %key
  br i1 %found, label %behind, label %more

more:                                             ; preds = %walk
  %r = getelementptr i32, ptr addrspace(1) %out, i64 %w.wide
  %w.next = load i32, ptr addrspace(1) %r, align 4
  %inside = icmp sgt i32 %w.next, -1
  br i1 %inside, label %walk, label %behind

behind:                                           ; preds = %more, %walk
  ret void
}

attributes #0 = { nounwind }
