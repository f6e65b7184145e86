; opt=3
; Comparisons, minima, bitwise operations and selections of what was read have 32 bits; a sum of two
; such values is no member of the web, and has 64.
define internal void @k.thread(ptr nonnull align 8 dereferenceable(96) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  %0 = load ptr, ptr %launch, align 8
  %at = zext nneg i32 %tx to i64
  %place = getelementptr inbounds nuw i16, ptr %0, i64 %at
  br label %loop

loop:                                             ; preds = %loop, %entry
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %best = phi i64 [ 1048576, %entry ], [ %kept, %loop ]
  %bits = phi i64 [ 0, %entry ], [ %more, %loop ]
  %total = phi i64 [ 0, %entry ], [ %sum, %loop ]
  %there = getelementptr inbounds nuw i16, ptr %place, i64 %i
  %x = load i16, ptr %there, align 2
  %wide = sext i16 %x to i64
  %least = call i64 @llvm.smin.i64(i64 %best, i64 %wide)
  %equal = icmp eq i64 %best, %wide
  %kept = select i1 %equal, i64 -5, i64 %least
  %small = and i64 %i, 255
  %both = xor i64 %bits, %small
  %more = or i64 %both, %wide
  %sum = add i64 %total, %best
  %next = add nuw nsw i64 %i, 1
  %on = icmp ult i64 %next, 100
  br i1 %on, label %loop, label %end

end:                                              ; preds = %loop
  %all = add i64 %kept, %more
  %result = add i64 %all, %sum
  %out = getelementptr inbounds nuw i64, ptr %0, i64 %at
  store i64 %result, ptr %out, align 8
  ret void
}

declare i64 @llvm.smin.i64(i64, i64)

attributes #0 = { alwaysinline nounwind }
