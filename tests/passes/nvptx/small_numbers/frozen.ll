; opt=3
; A sum that wrapped around is any number once it is frozen: 2^32 - 1, too, which is none of int32.
define ptx_kernel void @k(i32 range(i32 0, 32) %by, ptr addrspace(1) align 8 %out) #0 {
entry:
  %sum = add nsw i32 %by, 2147483632
  %any = freeze i32 %sum
  %wide = zext i32 %any to i64
  %less = add i64 %wide, -2147483600
  %product = mul i64 %less, %less
  store i64 %product, ptr addrspace(1) %out, align 8
  ret void
}

attributes #0 = { nounwind }
