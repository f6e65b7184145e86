; opt=3
; Whether a byte is a digit, or a letter of either case, without masks of 8 bits; of the sum of two bytes with one.
define ptx_kernel void @k(ptr addrspace(1) align 1 %text, ptr addrspace(1) align 4 %out) #0 {
entry:
  %c = load i8, ptr addrspace(1) %text, align 1
  %p = getelementptr i8, ptr addrspace(1) %text, i64 1
  %e = load i8, ptr addrspace(1) %p, align 1
  %digit = add i8 %c, -48
  %is_digit = icmp ult i8 %digit, 10
  %other = add i8 %c, -58
  %is_other = icmp ult i8 %other, -10
  %lower = or i8 %c, 32
  %letter = add i8 %lower, -97
  %is_letter = icmp ult i8 %letter, 26
  %high = add i8 %e, 100
  %is_high = icmp ugt i8 %high, 59
  %sum = add i8 %c, %e
  %near = add i8 %sum, 5
  %is_near = icmp ult i8 %near, 9
  %a = xor i1 %is_digit, %is_other
  %b = xor i1 %is_letter, %is_high
  %ab = xor i1 %a, %b
  %any = xor i1 %ab, %is_near
  %n = zext i1 %any to i32
  store i32 %n, ptr addrspace(1) %out, align 4
  ret void
}

attributes #0 = { nounwind }
