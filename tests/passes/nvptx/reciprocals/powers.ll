; opt=3
; A quotient and a remainder by the same number have one reciprocal; the division in front of the loop and that by a number of the loop stay.
define ptx_kernel void @k(i64 %x, i64 %y, i64 %n, ptr addrspace(1) align 8 %out) #0 {
entry:
  %first = urem i64 %x, %y
  br label %loop

loop:                                             ; preds = %loop, %entry
  %k = phi i64 [ 0, %entry ], [ %more, %loop ]
  %v = phi i64 [ %first, %entry ], [ %next, %loop ]
  %q = udiv i64 %v, %y
  %square = mul i64 %v, %v
  %r = urem i64 %square, %y
  %odd = or i64 %k, 1
  %s = udiv i64 %r, %odd
  %next = add i64 %q, %s
  %more = add i64 %k, 1
  %done = icmp eq i64 %more, %n
  br i1 %done, label %end, label %loop

end:                                              ; preds = %loop
  store i64 %next, ptr addrspace(1) %out, align 8
  ret void
}

attributes #0 = { nounwind }
