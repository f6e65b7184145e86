; opt=3
; The outer loop has another divisor in each iteration: its reciprocal is not known yet there. That
; of the 32-bit division is known in front of both.
define ptx_kernel void @k(ptr addrspace(1) align 8 %y, i64 %n, i32 %m, ptr addrspace(1) align 8 %out) #0 {
entry:
  br label %outer

outer:                                            ; preds = %behind, %entry
  %k = phi i64 [ 0, %entry ], [ %more, %behind ]
  %sum = phi i64 [ 0, %entry ], [ %next, %behind ]
  %from = getelementptr inbounds i64, ptr addrspace(1) %y, i64 %k
  %d = load i64, ptr addrspace(1) %from, align 8
  br label %inner

inner:                                            ; preds = %inner, %outer
  %j = phi i64 [ 0, %outer ], [ %further, %inner ]
  %v = phi i64 [ %sum, %outer ], [ %next, %inner ]
  %square = mul i64 %v, %v
  %r = urem i64 %square, %d
  %low = trunc i64 %r to i32
  %s = urem i32 %low, %m
  %wide = zext i32 %s to i64
  %next = add i64 %r, %wide
  %further = add i64 %j, 1
  %last = icmp eq i64 %further, %n
  br i1 %last, label %behind, label %inner

behind:                                           ; preds = %inner
  %more = add i64 %k, 1
  %done = icmp eq i64 %more, %n
  br i1 %done, label %end, label %outer

end:                                              ; preds = %behind
  store i64 %next, ptr addrspace(1) %out, align 8
  ret void
}

attributes #0 = { nounwind }
