; opt=3
; Squares of differences of numbers with 32 bits are those of their magnitudes, with and without a sign. The difference
; of both kinds has more than 32 bits, and a product is no square.
define ptx_kernel void @k(i32 %x, i32 %y, i32 %n, ptr addrspace(1) align 8 %out) #0 {
entry:
  %a = sext i32 %x to i64
  %b = sext i32 %y to i64
  %c = zext i32 %x to i64
  %e = zext i32 %y to i64
  %some = icmp ne i32 %n, 0
  br i1 %some, label %then, label %end

then:
  %signed = sub nsw i64 %a, %b
  %first = mul nsw i64 %signed, %signed
  store i64 %first, ptr addrspace(1) %out, align 8
  %unsigned = sub nsw i64 %c, %e
  %second = mul nsw i64 %unsigned, %unsigned
  %two = getelementptr i64, ptr addrspace(1) %out, i64 1
  store i64 %second, ptr addrspace(1) %two, align 8
  %constant = sub nsw i64 -7, %a
  %third = mul nsw i64 %constant, %constant
  %three = getelementptr i64, ptr addrspace(1) %out, i64 2
  store i64 %third, ptr addrspace(1) %three, align 8
  %mixed = sub nsw i64 %a, %c
  %fourth = mul nsw i64 %mixed, %mixed
  %four = getelementptr i64, ptr addrspace(1) %out, i64 3
  store i64 %fourth, ptr addrspace(1) %four, align 8
  %fifth = mul nsw i64 %mixed, %constant
  %five = getelementptr i64, ptr addrspace(1) %out, i64 4
  store i64 %fifth, ptr addrspace(1) %five, align 8
  br label %end

end:
  ret void
}

attributes #0 = { nounwind }
