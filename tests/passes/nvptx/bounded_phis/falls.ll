; opt=3
; for k in range(n - 1, -1, -1), where n is an int32 of memory.
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, ptr addrspace(1) align 8 %out) #0 {
entry:
  %n = load i32, ptr addrspace(1) %x, align 4
  %some = icmp sgt i32 %n, 0
  br i1 %some, label %ahead, label %end

ahead:                                            ; preds = %entry
  %begin = zext nneg i32 %n to i64
  br label %loop

loop:                                             ; preds = %more, %ahead
  %k = phi i64 [ %begin, %ahead ], [ %below, %more ]
  %below = add nsw i64 %k, -1
  %above = add nsw i64 %k, 1
  %p = getelementptr inbounds i32, ptr addrspace(1) %x, i64 %above
  %v = load i32, ptr addrspace(1) %p, align 4
  %goes = icmp ne i32 %v, 0
  br i1 %goes, label %more, label %end

more:                                             ; preds = %loop
  %again = icmp sgt i64 %k, 1
  br i1 %again, label %loop, label %end

end:                                              ; preds = %more, %loop, %entry
  %found = phi i64 [ -1, %entry ], [ %below, %loop ], [ -1, %more ]
  store i64 %found, ptr addrspace(1) %out, align 8
  ret void
}

; Not where it falls by more than the condition leaves, nor where it begins with more than 32 bits.
define ptx_kernel void @stays(ptr addrspace(1) align 4 %x, i64 %n, ptr addrspace(1) align 8 %out) #0 {
entry:
  %m = load i32, ptr addrspace(1) %x, align 4
  %some = icmp sgt i32 %m, 0
  %more = icmp sgt i64 %n, 0
  %both = and i1 %some, %more
  br i1 %both, label %ahead, label %end

ahead:                                            ; preds = %entry
  %begin = zext nneg i32 %m to i64
  br label %loop

loop:                                             ; preds = %loop, %ahead
  %k = phi i64 [ %begin, %ahead ], [ %below, %loop ]
  %below = add nsw i64 %k, -2
  store volatile i64 %k, ptr addrspace(1) %out, align 8
  %again = icmp sgt i64 %k, 0
  br i1 %again, label %loop, label %second

second:                                           ; preds = %second, %loop
  %j = phi i64 [ %n, %loop ], [ %below.j, %second ]
  %below.j = add nsw i64 %j, -1
  store volatile i64 %j, ptr addrspace(1) %out, align 8
  %again.j = icmp sgt i64 %j, 1
  br i1 %again.j, label %second, label %end

end:                                              ; preds = %second, %entry
  ret void
}

attributes #0 = { nounwind }
