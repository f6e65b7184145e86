; opt=3
; Products of int16 that are loaded for nothing else: %x, of itself and of %y, and %z, by a constant. %w is read as it is.
define ptx_kernel void @k(ptr addrspace(1) align 2 %p, ptr addrspace(1) align 4 %out) #0 {
  %x16 = load i16, ptr addrspace(1) %p, align 2
  %q = getelementptr i16, ptr addrspace(1) %p, i64 1
  %y16 = load i16, ptr addrspace(1) %q, align 2
  %r = getelementptr i16, ptr addrspace(1) %p, i64 2
  %z16 = load i16, ptr addrspace(1) %r, align 2
  %s = getelementptr i16, ptr addrspace(1) %p, i64 3
  %w16 = load i16, ptr addrspace(1) %s, align 2
  %x = sext i16 %x16 to i32
  %y = sext i16 %y16 to i32
  %z = sext i16 %z16 to i32
  %w = sext i16 %w16 to i32
  %square = mul nsw i32 %x, %x
  %both = mul nsw i32 %x, %y
  %tenfold = mul nsw i32 %z, 10
  %odd = xor i16 %w16, 1
  %squared = mul nsw i32 %w, %w
  %a = add i32 %square, %both
  %b = add i32 %tenfold, %squared
  %sum = add i32 %a, %b
  store i32 %sum, ptr addrspace(1) %out, align 4
  store i16 %odd, ptr addrspace(1) %q, align 2
  ret void
}

attributes #0 = { nounwind }
