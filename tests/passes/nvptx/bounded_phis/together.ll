; opt=3
; Two variables of which each becomes the other or one more than one: the condition asks for one of them, and so for the other where both have become the same.
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, i32 %n, ptr addrspace(1) align 8 %out) #0 {
entry:
  %begin = load i32, ptr addrspace(1) %x, align 4
  %wide = sext i32 %begin to i64
  %end = sext i32 %n to i64
  %some = icmp slt i32 %begin, %n
  br i1 %some, label %head, label %out.of

head:                                             ; preds = %latch, %entry
  %s = phi i64 [ %s.next, %latch ], [ %wide, %entry ]
  %mark = phi i64 [ %mark.next, %latch ], [ 0, %entry ]
  %low = trunc i64 %s to i32
  %index = and i32 %low, 255
  %at = zext nneg i32 %index to i64
  %p = getelementptr i32, ptr addrspace(1) %x, i64 %at
  %v = load i32, ptr addrspace(1) %p, align 4
  switch i32 %v, label %back [
    i32 0, label %latch
    i32 1, label %on
  ]

on:                                               ; preds = %head
  %s.more = add nsw i64 %s, 1
  br label %latch

back:                                             ; preds = %head
  %mark.more = add i64 %mark, 1
  br label %latch

latch:                                            ; preds = %back, %on, %head
  %mark.next = phi i64 [ %mark.more, %back ], [ %mark, %on ], [ %s, %head ]
  %s.next = phi i64 [ %mark.more, %back ], [ %s.more, %on ], [ %s, %head ]
  %again = icmp slt i64 %s.next, %end
  br i1 %again, label %head, label %out.of

out.of:                                           ; preds = %latch, %entry
  %last = phi i64 [ %wide, %entry ], [ %s.next, %latch ]
  store i64 %last, ptr addrspace(1) %out, align 8
  ret void
}

; Not where the other one goes on by itself, nor by 2, nor of a condition that the largest number meets.
define ptx_kernel void @stays(ptr addrspace(1) align 4 %x, i32 %n, ptr addrspace(1) align 8 %out) #0 {
entry:
  %begin = load i32, ptr addrspace(1) %x, align 4
  %wide = sext i32 %begin to i64
  %end = sext i32 %n to i64
  %some = icmp slt i32 %begin, %n
  br i1 %some, label %head, label %out.of

head:                                             ; preds = %latch, %entry
  %s = phi i64 [ %s.next, %latch ], [ %wide, %entry ]
  %mark = phi i64 [ %mark.next, %latch ], [ 0, %entry ]
  %two = phi i64 [ %two.next, %latch ], [ 0, %entry ]
  %most = phi i64 [ %most.next, %latch ], [ 0, %entry ]
  %low = trunc i64 %s to i32
  %index = and i32 %low, 255
  %at = zext nneg i32 %index to i64
  %p = getelementptr i32, ptr addrspace(1) %x, i64 %at
  %v = load i32, ptr addrspace(1) %p, align 4
  %is = icmp eq i32 %v, 0
  br i1 %is, label %on, label %latch

on:                                               ; preds = %head
  %mark.more = add i64 %mark, 1
  %two.more = add i64 %two, 2
  br label %latch

latch:                                            ; preds = %on, %head
  %mark.next = phi i64 [ %mark.more, %on ], [ %mark, %head ]
  %two.next = phi i64 [ %two.more, %on ], [ %s, %head ]
  %s.next = phi i64 [ %two.more, %on ], [ %s, %head ]
  %most.next = add i64 %most, 1
  %again = icmp slt i64 %s.next, %end
  %often = icmp sle i64 %most.next, %end
  %both = and i1 %again, %often
  br i1 %both, label %head, label %out.of

out.of:                                           ; preds = %latch, %entry
  %last = phi i64 [ %wide, %entry ], [ %mark.next, %latch ]
  store i64 %last, ptr addrspace(1) %out, align 8
  ret void
}

attributes #0 = { nounwind }
