; opt=3
; What other lanes have is as long as what they give; a ballot's result is no such value.
define internal void @k.thread(ptr nonnull align 8 dereferenceable(96) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  %0 = load ptr, ptr %launch, align 8
  %at = zext nneg i32 %tx to i64
  %place = getelementptr inbounds nuw i32, ptr %0, i64 %at
  %x = load i32, ptr %place, align 4
  %wide = sext i32 %x to i64
  br label %loop

loop:                                             ; preds = %loop, %entry
  %step = phi i32 [ 1, %entry ], [ %next, %loop ]
  %most = phi i64 [ %wide, %entry ], [ %more, %loop ]
  %votes = phi i64 [ 0, %entry ], [ %vote, %loop ]
  %other = call i64 @pyptx.meet(i32 7, i32 0, i32 -1, i64 %most, i32 %step)
  %more = call i64 @llvm.smax.i64(i64 %most, i64 %other)
  %vote = call i64 @pyptx.meet(i32 11, i32 1, i32 -1, i64 %more, i32 0)
  %next = shl nuw nsw i32 %step, 1
  %on = icmp ult i32 %next, 32
  br i1 %on, label %loop, label %end

end:                                              ; preds = %loop
  %result = add i64 %more, %vote
  %out = getelementptr inbounds nuw i64, ptr %0, i64 %at
  store i64 %result, ptr %out, align 8
  ret void
}

declare i64 @llvm.smax.i64(i64, i64)
declare i64 @pyptx.meet(i32, i32, i32, i64, i32)

attributes #0 = { alwaysinline nounwind }
