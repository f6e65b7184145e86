; opt=3
; Whether operands fit 32 bits, and others beyond multiples of 2**32; 2**32 + 1 needs both halves.
define ptx_kernel void @k(i64 %x, i64 %y, ptr addrspace(1) align 4 %out) #0 {
entry:
  %either = or i64 %x, %y
  %short = icmp ult i64 %either, 4294967296
  br i1 %short, label %then, label %end

then:
  %a = icmp ugt i64 %x, 21474836479
  %b = icmp ult i64 %y, 4294967297
  %c = icmp eq i64 %x, 4294967296
  %ab = xor i1 %a, %b
  %any = or i1 %ab, %c
  %n = zext i1 %any to i32
  store i32 %n, ptr addrspace(1) %out, align 4
  br label %end

end:
  ret void
}

attributes #0 = { nounwind }
