; timed
; every loop polls, with the site of its own mark, of the one in front of it, or of a function that it calls
declare void @pyptx.place(i32, i32)

define internal void @waits(ptr %x) {
entry:
  br label %loop
loop:
  call void @pyptx.place(i32 3, i32 1)
  %v = load volatile i32, ptr %x
  %on = icmp ne i32 %v, 0
  br i1 %on, label %loop, label %end
end:
  ret void
}

define void @k(ptr %launch, ptr %x, i32 %path) {
entry:
  br label %outer
outer:
  %site = add i32 %path, 5
  call void @pyptx.place(i32 %site, i32 1)
  br label %front
front:
  call void @pyptx.place(i32 7, i32 0)
  br label %counted
counted:
  %i = phi i64 [ 0, %front ], [ %next, %counted ]
  %p = getelementptr i32, ptr %x, i64 %i
  store i32 1, ptr %p
  %next = add nuw nsw i64 %i, 1
  %less = icmp ult i64 %next, 100
  br i1 %less, label %counted, label %latch
latch:
  %v = load volatile i32, ptr %x
  %on = icmp ne i32 %v, 0
  br i1 %on, label %outer, label %blocks
blocks:
  call void @waits(ptr %x)
  %w = load volatile i32, ptr %x
  %more = icmp ne i32 %w, 0
  br i1 %more, label %blocks, label %end
end:
  ret void
}
