; opt=3
; A count that was extended, or is less than 2**32 by a mask, is all of its low half, and not clamped; one that is negative is.
define ptx_kernel void @k(ptr addrspace(1) align 8 %out, i32 %n, i64 %from, i64 %by) #0 {
entry:
  %wide = zext i32 %n to i64
  %few = icmp ult i32 %n, 64
  %a = shl i64 %from, %wide
  %one = select i1 %few, i64 %a, i64 0
  store i64 %one, ptr addrspace(1) %out, align 8
  %low = and i64 %by, 255
  %less = icmp ult i64 %low, 64
  %b = lshr i64 %from, %low
  %two = select i1 %less, i64 %b, i64 0
  %second = getelementptr inbounds i8, ptr addrspace(1) %out, i64 8
  store i64 %two, ptr addrspace(1) %second, align 8
  %signed = sext i32 %n to i64
  %c = lshr i64 %from, %signed
  %three = select i1 %few, i64 %c, i64 0
  %third = getelementptr inbounds i8, ptr addrspace(1) %out, i64 16
  store i64 %three, ptr addrspace(1) %third, align 8
  ret void
}

attributes #0 = { nounwind }
