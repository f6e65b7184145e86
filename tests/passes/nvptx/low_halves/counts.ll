; opt=3
; A counter that indices and counts of shifts read has 32 bits; one that a comparison guards the shift by stays as it is, and so does a number that is shifted by itself.
define ptx_kernel void @k(ptr addrspace(1) align 8 %out, i32 %n, i64 %from) #0 {
entry:
  br label %loop

loop:                                             ; preds = %loop, %entry
  %k = phi i64 [ 0, %entry ], [ %next, %loop ]
  %m = phi i64 [ %from, %entry ], [ %more, %loop ]
  %s = phi i64 [ %from, %entry ], [ %twice, %loop ]
  %mask = phi i64 [ 0, %entry ], [ %set, %loop ]
  %low = trunc i64 %k to i32
  %bit = shl nuw i64 1, %k
  %one = or i64 %mask, %bit
  %few = icmp ult i64 %m, 64
  %shifted = lshr i64 %from, %m
  %guarded = select i1 %few, i64 %shifted, i64 0
  %own = shl i64 %s, %s
  %two = xor i64 %guarded, %own
  %set = xor i64 %one, %two
  %next = add i64 %k, 1
  %more = add i64 %m, 3
  %twice = add i64 %s, 5
  %again = icmp slt i32 %low, %n
  br i1 %again, label %loop, label %done

done:                                             ; preds = %loop
  store i64 %set, ptr addrspace(1) %out, align 8
  ret void
}

attributes #0 = { nounwind }
