; opt=3
; The first choice is truncated where it is used, and there it is marked, too.
define i32 @k(ptr %x, ptr %y, i64 %match, i64 %mismatch, i16 %letter, i64 %n) {
entry:
  br label %loop

loop:                                             ; preds = %loop, %entry
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sum = phi i32 [ 0, %entry ], [ %more, %loop ]
  %a = getelementptr i8, ptr %x, i64 %i
  %b = getelementptr i8, ptr %y, i64 %i
  %left = load i8, ptr %a, align 1
  %right = load i8, ptr %b, align 1
  %fixed = freeze i8 %right
  %same = icmp eq i8 %left, %fixed
  %pair = select i1 %same, i64 %match, i64 %mismatch
  %short = trunc i64 %pair to i32
  %wide = zext i8 %left to i16
  %other = icmp ne i16 %wide, %letter
  %cost = select i1 %other, i32 3, i32 1
  %half = add i32 %sum, %short
  %more = add i32 %half, %cost
  %next = add nuw i64 %i, 1
  %on = icmp ult i64 %next, %n
  br i1 %on, label %loop, label %end

end:                                              ; preds = %loop
  ret i32 %more
}
