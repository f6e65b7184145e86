; opt=3
; x - (k + 1) and x - (k | 2) where x - k is known.
define ptx_kernel void @taps(ptr addrspace(1) align 4 %out, i32 %x, i32 %y, i32 %k, i1 %c) #0 {
entry:
  %d0 = sub nsw i32 %x, %k
  br i1 %c, label %yes, label %no

yes:                                              ; preds = %entry
  %k1 = add nsw i32 %k, 1
  %d1 = sub nsw i32 %x, %k1
  %k2 = or disjoint i32 %k, 2
  %d2 = sub nsw i32 %x, %k2
  %s = xor i32 %d1, %d2
  store i32 %s, ptr addrspace(1) %out, align 4
  ret void

no:                                               ; preds = %entry
  store i32 %d0, ptr addrspace(1) %out, align 4
  ret void
}

attributes #0 = { nounwind }
