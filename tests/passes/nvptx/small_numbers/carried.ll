; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 8 %out, i32 %first, i32 %last, i32 %n) #0 {
entry:
  %start = sext i32 %first to i64
  br label %loop

loop:                                             ; preds = %entry, %latch
  %wide = phi i64 [ %start, %entry ], [ %wider, %latch ]
  %other = phi i64 [ 0, %entry ], [ %wider, %latch ]
  %k = phi i32 [ %first, %entry ], [ %next, %latch ]
  %total = phi i64 [ 0, %entry ], [ %sum, %latch ]
  %p = icmp slt i32 %k, %n
  br i1 %p, label %adds, label %latch

adds:                                             ; preds = %loop
  %square = mul nsw i64 %wide, %wide
  %more = add i64 %square, %other
  %added = add i64 %total, %more
  br label %latch

latch:                                            ; preds = %loop, %adds
  %sum = phi i64 [ %total, %loop ], [ %added, %adds ]
  %next = add nsw i32 %k, 1
  %wider = sext i32 %next to i64
  %more.to.do = icmp slt i32 %next, %last
  br i1 %more.to.do, label %loop, label %done

done:                                             ; preds = %latch
  %end = phi i64 [ %wide, %latch ]
  %result = add i64 %sum, %end
  store i64 %result, ptr addrspace(1) %out, align 8
  ret void
}

attributes #0 = { nounwind }
