; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, i64 %m, i64 %row, i64 %steps, ptr addrspace(1) align 8 %out) #0 {
entry:
  br label %loop

loop:                                             ; preds = %loop, %entry
  %at = phi i64 [ %row, %entry ], [ %at.1, %loop ]
  %k = phi i64 [ 0, %entry ], [ %k.1, %loop ]
  %s = phi i64 [ 1, %entry ], [ %s.1, %loop ]
  %top = shl i64 %at, 32
  %bytes = ashr exact i64 %top, 30
  %p = getelementptr inbounds i8, ptr addrspace(1) %x, i64 %bytes
  store i32 1, ptr addrspace(1) %p, align 4
  %top.1 = add i64 %top, -4294967296
  %bytes.1 = ashr exact i64 %top.1, 30
  %p.1 = getelementptr inbounds i8, ptr addrspace(1) %x, i64 %bytes.1
  store i32 2, ptr addrspace(1) %p.1, align 4
  %product = mul i64 %s, 1664525
  %sum = add i64 %product, 1013904223
  %s.1 = and i64 %sum, 4294967295
  %at.1 = add i64 %at, %m
  %k.1 = add nuw i64 %k, 1
  %on = icmp slt i64 %k.1, %steps
  br i1 %on, label %loop, label %done

done:                                             ; preds = %loop
  %bits = lshr i64 %sum, 8
  %few = and i64 %bits, 16777215
  store i64 %few, ptr addrspace(1) %out, align 8
  ret void
}

attributes #0 = { nounwind }
