; opt=3
; Squares of neighbouring distances: k + 1 - x is hidden, k + 2 - x and a product of two numbers are not.
define ptx_kernel void @k(i32 %k, i32 %x, i32 %y, ptr addrspace(1) align 4 %out) #0 {
  %d0 = sub nsw i32 %k, %x
  %s0 = mul nsw i32 %d0, %d0
  %k1 = add nsw i32 %k, 1
  %d1 = sub nsw i32 %k1, %x
  %s1 = mul nsw i32 %d1, %d1
  %k2 = add nsw i32 %k, 2
  %d2 = sub nsw i32 %k2, %x
  %s2 = mul nsw i32 %d2, %d2
  %p = mul nsw i32 %d1, %y
  %a = add nsw i32 %s0, %s1
  %b = add nsw i32 %s2, %p
  %c = add nsw i32 %a, %b
  store i32 %c, ptr addrspace(1) %out, align 4
  ret void
}

attributes #0 = { nounwind }
