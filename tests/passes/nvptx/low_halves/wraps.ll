; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 8 %x, i32 range(i32 0, -2147483648) %n, i32 %other, ptr addrspace(1) align 8 %out) #0 {
entry:
  %v = load i64, ptr addrspace(1) %out, align 8
  %sign = ashr i64 %v, 63
  %wide = zext nneg i32 %n to i64
  %by = and i64 %sign, %wide
  %sum = add i64 %by, %v
  %top = shl i64 %sum, 32
  %bytes = ashr exact i64 %top, 29
  %p = getelementptr inbounds i8, ptr addrspace(1) %x, i64 %bytes
  store i64 1, ptr addrspace(1) %p, align 8
  %negative = icmp slt i64 %v, 0
  %wide.other = zext i32 %other to i64
  %by.other = select i1 %negative, i64 %wide.other, i64 0
  %sum.other = add i64 %by.other, %v
  %top.other = shl i64 %sum.other, 32
  %bytes.other = ashr exact i64 %top.other, 29
  %p.other = getelementptr inbounds i8, ptr addrspace(1) %x, i64 %bytes.other
  store i64 2, ptr addrspace(1) %p.other, align 8
  %by.kept = select i1 %negative, i64 %wide, i64 0
  %sum.kept = add i64 %by.kept, %v
  %kept = trunc i64 %sum.kept to i32
  store i32 %kept, ptr addrspace(1) %out, align 8
  ret void
}

attributes #0 = { nounwind }
