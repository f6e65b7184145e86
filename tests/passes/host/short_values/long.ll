; opt=3
; Not of these: what may have 33 bits, a running sum, and counters that nothing read is chosen from.
define internal void @k.thread(ptr nonnull align 8 dereferenceable(96) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  %0 = load ptr, ptr %launch, align 8
  %at = zext nneg i32 %tx to i64
  %place = getelementptr inbounds nuw i32, ptr %0, i64 %at
  br label %loop

loop:                                             ; preds = %loop, %entry
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %best = phi i64 [ 0, %entry ], [ %most, %loop ]
  %total = phi i64 [ 0, %entry ], [ %chosen, %loop ]
  %toggle = phi i64 [ 0, %entry ], [ %other, %loop ]
  %there = getelementptr inbounds nuw i32, ptr %place, i64 %i
  %x = load i32, ptr %there, align 4
  %wide = zext i32 %x to i64
  %most = call i64 @llvm.smax.i64(i64 %best, i64 %wide)
  %small = sext i32 %x to i64
  %sum = add i64 %total, %small
  %less = icmp slt i64 %sum, %small
  %chosen = select i1 %less, i64 %sum, i64 %small
  %other = xor i64 %toggle, 1
  %next = add nuw nsw i64 %i, 1
  %on = icmp ult i64 %next, 100
  br i1 %on, label %loop, label %end

end:                                              ; preds = %loop
  %first = add i64 %most, %chosen
  %result = add i64 %first, %other
  %out = getelementptr inbounds nuw i64, ptr %0, i64 %at
  store i64 %result, ptr %out, align 8
  ret void
}

declare i64 @llvm.smax.i64(i64, i64)

attributes #0 = { alwaysinline nounwind }
