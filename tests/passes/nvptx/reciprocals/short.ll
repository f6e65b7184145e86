; opt=3
; Divisions of 32 bits: the divisor's reciprocal is computed in front of the outermost loop that
; does not change it. A loop whose step is known at run time keeps its division.
define ptx_kernel void @k(ptr addrspace(1) align 4 %y, i32 %n, i32 %m, i32 %step, ptr addrspace(1) align 4 %out) #0 {
entry:
  br label %outer

outer:                                            ; preds = %behind, %entry
  %k = phi i32 [ 0, %entry ], [ %more, %behind ]
  %sum = phi i32 [ 0, %entry ], [ %next, %behind ]
  %from = getelementptr inbounds i32, ptr addrspace(1) %y, i32 %k
  %d = load i32, ptr addrspace(1) %from, align 4
  br label %inner

inner:                                            ; preds = %inner, %outer
  %j = phi i32 [ 0, %outer ], [ %further, %inner ]
  %v = phi i32 [ %sum, %outer ], [ %next, %inner ]
  %square = mul i32 %v, %v
  %r = urem i32 %square, %d
  %q = udiv i32 %square, %m
  %next = add i32 %r, %q
  %further = add i32 %j, 1
  %last = icmp eq i32 %further, %n
  br i1 %last, label %behind, label %inner

behind:                                           ; preds = %inner
  %more = add i32 %k, 1
  %done = icmp eq i32 %more, %n
  br i1 %done, label %strided, label %outer

strided:                                          ; preds = %strided, %behind
  %i = phi i32 [ 0, %behind ], [ %on, %strided ]
  %s = phi i32 [ %next, %behind ], [ %t, %strided ]
  %row = udiv i32 %i, %m
  %t = xor i32 %s, %row
  %on = add i32 %i, %step
  %end = icmp ugt i32 %on, %n
  br i1 %end, label %exit, label %strided

exit:                                             ; preds = %strided
  store i32 %t, ptr addrspace(1) %out, align 4
  ret void
}

attributes #0 = { nounwind }
