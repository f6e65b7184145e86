; an innermost loop that counts ends
define void @k(ptr %launch, ptr %x) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %p = getelementptr i32, ptr %x, i64 %i
  store i32 1, ptr %p
  %next = add nuw nsw i64 %i, 1
  %on = icmp ult i64 %next, 100
  br i1 %on, label %loop, label %end
end:
  ret void
}
