; opt=3
; Compared as it is before the step: upwards and downwards, with and without signs, for equality.
define ptx_kernel void @k(ptr addrspace(1) align 4 %out, i32 %first, i32 %last, i64 %end) #0 {
entry:
  br label %up

up:
  %a = phi i32 [ %first, %entry ], [ %a.next, %up ]
  store i32 %a, ptr addrspace(1) %out, align 4
  %a.next = add nsw i32 %a, 1
  %a.more = icmp slt i32 %a, %last
  br i1 %a.more, label %up, label %down

down:
  %b = phi i32 [ %last, %up ], [ %b.next, %down ]
  store i32 %b, ptr addrspace(1) %out, align 4
  %b.next = add nsw i32 %b, -1
  %b.done = icmp sle i32 %b, %first
  br i1 %b.done, label %plain, label %down

plain:
  %c = phi i32 [ 0, %down ], [ %c.next, %plain ]
  store i32 %c, ptr addrspace(1) %out, align 4
  %c.next = add nuw i32 %c, 1
  %c.done = icmp ule i32 %last, %c
  br i1 %c.done, label %equal, label %plain

equal:
  %d = phi i64 [ 0, %plain ], [ %d.next, %equal ]
  store i64 %d, ptr addrspace(1) %out, align 8
  %d.next = add i64 %d, 1
  %d.more = icmp ne i64 %d, %end
  br i1 %d.more, label %equal, label %done

done:
  ret void
}

attributes #0 = { nounwind }
