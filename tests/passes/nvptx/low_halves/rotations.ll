; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, i64 %any, ptr addrspace(1) align 8 %out) #0 {
entry:
  %word = load i32, ptr addrspace(1) %x, align 4
  %first = zext i32 %word to i64
  br label %loop

loop:                                             ; preds = %loop, %entry
  %v = phi i64 [ %first, %entry ], [ %v.1, %loop ]
  %w = phi i64 [ %any, %entry ], [ %w.1, %loop ]
  %down = lshr i64 %v, 7
  %up = shl nuw nsw i64 %v, 25
  %turned = or disjoint i64 %down, %up
  %less = lshr i64 %v, 3
  %mixed = xor i64 %turned, %less
  %down.w = lshr i64 %w, 7
  %sum = add i64 %mixed, %down.w
  %v.1 = and i64 %sum, 4294967295
  %w.1 = add i64 %w, %v
  %on = icmp ult i64 %w.1, 1000
  br i1 %on, label %loop, label %done

done:                                             ; preds = %loop
  %short = trunc i64 %v.1 to i32
  store i32 %short, ptr addrspace(1) %out, align 4
  ret void
}

attributes #0 = { nounwind }
