; opt=3
; Of x > -1 and x <= -1 - 2**32 the upper half says all; ptxas sees that of x < 0, and x > 0 needs both.
define ptx_kernel void @k(i64 %x, i64 %y, ptr addrspace(1) align 4 %out) #0 {
entry:
  %a = icmp sgt i64 %x, -1
  %b = icmp slt i64 %y, -4294967296
  %c = icmp slt i64 %x, 0
  %d = icmp sgt i64 %y, 0
  %ab = xor i1 %a, %b
  %cd = xor i1 %c, %d
  %any = or i1 %ab, %cd
  %n = zext i1 %any to i32
  store i32 %n, ptr addrspace(1) %out, align 4
  ret void
}

; a function that is called stays
define i32 @slow(i64 %x) #0 {
entry:
  %a = icmp sgt i64 %x, -1
  %n = zext i1 %a to i32
  ret i32 %n
}

attributes #0 = { nounwind }
