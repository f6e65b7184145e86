; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 1 %text, i32 range(i32 0, -2147483648) %n, ptr addrspace(1) align 8 %starts, ptr addrspace(1) align 8 %out) #0 {
entry:
  %wide = zext nneg i32 %n to i64
  %start = load i64, ptr addrspace(1) %starts, align 8
  %p.end = getelementptr i8, ptr addrspace(1) %starts, i64 8
  %end = load i64, ptr addrspace(1) %p.end, align 8
  %any = icmp slt i64 %start, %end
  br i1 %any, label %step, label %done

step:                                             ; preds = %latch, %entry
  %i = phi i64 [ %start, %entry ], [ %next, %latch ]
  %negative = icmp slt i64 %i, 0
  %by = select i1 %negative, i64 %wide, i64 0
  %sum = add i64 %by, %i
  %up = shl i64 %sum, 32
  %index = ashr exact i64 %up, 32
  %p = getelementptr inbounds i8, ptr addrspace(1) %text, i64 %index
  %c = load i8, ptr addrspace(1) %p, align 1, !pyptx.in_range !0
  %i.1 = add nsw i64 %i, 1
  %long = icmp slt i8 %c, 0
  br i1 %long, label %more, label %latch

more:                                             ; preds = %step
  %inside = icmp sgt i64 %end, %i.1
  br i1 %inside, label %second, label %latch

second:                                           ; preds = %more
  %negative.1 = icmp slt i64 %i, -1
  %by.1 = select i1 %negative.1, i64 %wide, i64 0
  %sum.1 = add i64 %i.1, %by.1
  %low.1 = trunc i64 %sum.1 to i32
  %index.1 = sext i32 %low.1 to i64
  %p.1 = getelementptr inbounds i8, ptr addrspace(1) %text, i64 %index.1
  store i8 0, ptr addrspace(1) %p.1, align 1, !pyptx.in_range !0
  %i.2 = add nsw i64 %i.1, 1
  br label %latch

latch:                                            ; preds = %second, %more, %step
  %next = phi i64 [ %i.1, %step ], [ %i.1, %more ], [ %i.2, %second ]
  %on = icmp slt i64 %next, %end
  br i1 %on, label %step, label %done

done:                                             ; preds = %latch, %entry
  %at = phi i64 [ %start, %entry ], [ %next, %latch ]
  store i64 %at, ptr addrspace(1) %out, align 8
  ret void
}

attributes #0 = { nounwind }

!0 = !{}
