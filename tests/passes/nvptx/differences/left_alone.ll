; opt=3
; x - k is behind another branch, a sum may wrap around, x is another.
define ptx_kernel void @wraps(ptr addrspace(1) align 4 %out, i32 %x, i32 %y, i32 %k) #0 {
entry:
  %d0 = sub nsw i32 %x, %k
  %w1 = add i32 %k, 1
  %e1 = sub nsw i32 %x, %w1
  %n1 = add nsw i32 %k, 3
  %e2 = sub i32 %x, %n1
  %e3 = sub nsw i32 %y, %n1
  %o = or i32 %k, 4
  %e4 = sub nsw i32 %x, %o
  %m = add nsw i32 %k, -5
  %e5 = sub nsw i32 %x, %m
  %t1 = xor i32 %e1, %e2
  %t2 = xor i32 %t1, %e3
  %t3 = xor i32 %t2, %e4
  %t4 = xor i32 %t3, %e5
  %t5 = xor i32 %t4, %d0
  store i32 %t5, ptr addrspace(1) %out, align 4
  ret void
}

define ptx_kernel void @beside(ptr addrspace(1) align 4 %out, i32 %x, i32 %k, i1 %c) #0 {
entry:
  br i1 %c, label %yes, label %no

yes:                                              ; preds = %entry
  %d0 = sub nsw i32 %x, %k
  store i32 %d0, ptr addrspace(1) %out, align 4
  ret void

no:                                               ; preds = %entry
  %k1 = add nsw i32 %k, 1
  %d1 = sub nsw i32 %x, %k1
  store i32 %d1, ptr addrspace(1) %out, align 4
  ret void
}

attributes #0 = { nounwind }
