; opt=3
; Both indices of an array of two axes, wrapped by minima; the same numbers in an array of which they
; are no extents are not.
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, i32 range(i32 0, -2147483648) %n, i32 range(i32 0, -2147483648) %m, ptr addrspace(1) align 8 %at, ptr addrspace(1) align 4 %y) #0 {
entry:
  %row = load i64, ptr addrspace(1) %at, align 8
  %negative = icmp slt i64 %row, 0
  %by = select i1 %negative, i32 %n, i32 0
  %low = trunc i64 %row to i32
  %r = add i32 %by, %low
  %behind = getelementptr inbounds nuw i64, ptr addrspace(1) %at, i64 1
  %col = load i64, ptr addrspace(1) %behind, align 8
  %negative2 = icmp slt i64 %col, 0
  %by2 = select i1 %negative2, i32 %m, i32 0
  %low2 = trunc i64 %col to i32
  %c = add i32 %by2, %low2
  %first = mul nsw i32 %m, %r
  %element = add nsw i32 %first, %c
  %wide = sext i32 %element to i64
  %p = getelementptr inbounds float, ptr addrspace(1) %x, i64 %wide
  %v = load float, ptr addrspace(1) %p, align 4
  %other = load i64, ptr addrspace(1) %at, align 8
  %negative3 = icmp slt i64 %other, 0
  %by3 = select i1 %negative3, i32 %n, i32 0
  %low3 = trunc i64 %other to i32
  %r3 = add i32 %by3, %low3
  %first3 = mul nsw i32 %m, %r3
  %wide3 = sext i32 %first3 to i64
  %q = getelementptr inbounds float, ptr addrspace(1) %y, i64 %wide3
  store float %v, ptr addrspace(1) %q, align 4
  ret void
}

attributes #0 = { nounwind }
