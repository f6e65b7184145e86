; opt=3
; A loop over a local array, by as many as LLVM unrolled: its limit of 64 bits is compared in 32; a loop whose access is behind a condition, or by another number, or that something else ends, not.
define ptx_kernel void @k(i64 %n, i32 %m, i1 %c, ptr addrspace(1) align 4 %out) #0 {
entry:
  %a = alloca [361 x i8], align 1
  br label %loop

loop:
  %k = phi i32 [ 0, %entry ], [ %k.next, %loop ]
  %count = phi i64 [ 0, %entry ], [ %count.next, %loop ]
  %wide = sext i32 %k to i64
  %p = getelementptr inbounds i8, ptr %a, i64 %wide
  store i8 0, ptr %p, align 1
  %k.next = add nsw i32 %k, 4
  %count.next = add i64 %count, 4
  %last = icmp eq i64 %count.next, %n
  br i1 %last, label %next, label %loop

next:
  br label %loop2

loop2:
  %k2 = phi i32 [ 0, %next ], [ %k2.next, %latch2 ]
  %count2 = phi i64 [ 0, %next ], [ %count2.next, %latch2 ]
  br i1 %c, label %some2, label %latch2

some2:
  %wide2 = sext i32 %k2 to i64
  %p2 = getelementptr inbounds i8, ptr %a, i64 %wide2
  store i8 1, ptr %p2, align 1
  br label %latch2

latch2:
  %wide.m = sext i32 %m to i64
  %p3 = getelementptr inbounds i8, ptr %a, i64 %wide.m
  store i8 2, ptr %p3, align 1
  %k2.next = add nsw i32 %k2, 1
  %count2.next = add i64 %count2, 1
  %last2 = icmp eq i64 %count2.next, %n
  br i1 %last2, label %third, label %loop2

third:
  br label %loop3

loop3:
  %k3 = phi i32 [ 0, %third ], [ %k3.next, %inside3 ]
  %count3 = phi i64 [ 0, %third ], [ %count3.next, %inside3 ]
  %beyond = icmp sgt i32 %k3, 360
  br i1 %beyond, label %end, label %inside3

inside3:
  %wide3 = sext i32 %k3 to i64
  %p4 = getelementptr inbounds i8, ptr %a, i64 %wide3
  store i8 3, ptr %p4, align 1
  %k3.next = add nsw i32 %k3, 1
  %count3.next = add i64 %count3, 1
  %last3 = icmp eq i64 %count3.next, %n
  br i1 %last3, label %end, label %loop3

end:
  %v = load i8, ptr %p3, align 1
  store i8 %v, ptr addrspace(1) %out, align 1
  ret void
}
attributes #0 = { nounwind }
