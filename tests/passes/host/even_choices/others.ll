; opt=3
; Not of these: a maximum and its place, a test of zero, a choice of what the loop changes, one
; behind the loop.
define i64 @k(ptr %x, ptr %y, i64 %n) {
entry:
  br label %loop

loop:                                             ; preds = %loop, %entry
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %best = phi i32 [ 0, %entry ], [ %most, %loop ]
  %place = phi i64 [ 0, %entry ], [ %there, %loop ]
  %a = getelementptr i32, ptr %x, i64 %i
  %b = getelementptr i32, ptr %y, i64 %i
  %left = load i32, ptr %a, align 4
  %right = load i32, ptr %b, align 4
  %larger = icmp sgt i32 %left, %best
  %most = select i1 %larger, i32 %left, i32 %best
  %there = select i1 %larger, i64 %i, i64 %place
  %none = icmp eq i32 %right, 0
  %weight = select i1 %none, i32 7, i32 9
  %same = icmp eq i32 %left, %right
  %chosen = select i1 %same, i32 %most, i32 4
  %sum = add i32 %weight, %chosen
  store i32 %sum, ptr %b, align 4
  %next = add nuw i64 %i, 1
  %on = icmp ult i64 %next, %n
  br i1 %on, label %loop, label %end

end:                                              ; preds = %loop
  %last = load i64, ptr %x, align 8
  %equal = icmp eq i64 %last, %there
  %result = select i1 %equal, i64 5, i64 6
  ret i64 %result
}
