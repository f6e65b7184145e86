; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 8 %parent, i32 range(i32 0, -2147483648) %extent, i64 %from, i64 %low) #0 {
entry:
  br label %loop

loop:                                             ; preds = %loop, %entry
  %x = phi i64 [ %from, %entry ], [ %next, %loop ]
  %negative = icmp slt i64 %x, 0
  %more = select i1 %negative, i32 %extent, i32 0
  %x.low = trunc i64 %x to i32
  %wrapped = add i32 %more, %x.low
  %wide = sext i32 %wrapped to i64
  %p = getelementptr inbounds i64, ptr addrspace(1) %parent, i64 %wide
  %next = load i64, ptr addrspace(1) %p, align 8
  %root = icmp eq i64 %next, %x
  br i1 %root, label %behind, label %loop

behind:                                           ; preds = %loop
  %p.last = phi ptr addrspace(1) [ %p, %loop ]
  %old = atomicrmw min ptr addrspace(1) %p.last, i64 %low syncscope("device") monotonic, align 8
  ret void
}

attributes #0 = { nounwind }
