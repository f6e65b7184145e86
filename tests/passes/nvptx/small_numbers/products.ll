; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 1 %x, i1 %c, i64 %total, i32 %crc, ptr addrspace(1) align 8 %out) #0 {
entry:
  %a = load i8, ptr addrspace(1) %x, align 1
  %p.b = getelementptr i8, ptr addrspace(1) %x, i64 1
  %b = load i8, ptr addrspace(1) %p.b, align 1
  %p.w = getelementptr i8, ptr addrspace(1) %x, i64 4
  %w = load i32, ptr addrspace(1) %p.w, align 4
  %a.wide = zext i8 %a to i64
  %b.wide = zext i8 %b to i64
  %product = mul nuw nsw i64 %a.wide, %b.wide
  %s.1 = add i64 %total, %product
  %masked = select i1 %c, i64 %s.1, i64 %total
  %a.32 = zext i8 %a to i32
  %b.32 = zext i8 %b to i32
  %d = sub nsw i32 %a.32, %b.32
  %distance = call i32 @llvm.abs.i32(i32 %d, i1 true)
  %distance.wide = zext i32 %distance to i64
  %s.2 = add i64 %masked, %distance.wide
  %w.wide = sext i32 %w to i64
  %far = mul i64 %w.wide, %a.wide
  %s.3 = add i64 %s.2, %far
  %low = trunc i32 %crc to i8
  %mixed = xor i8 %low, %a
  %mixed.wide = zext i8 %mixed to i64
  %s.4 = add i64 %s.3, %mixed.wide
  store i64 %s.4, ptr addrspace(1) %out, align 8
  %moved = add i8 %a, -65
  %letter = icmp ult i8 %moved, 26
  %p.out = getelementptr i8, ptr addrspace(1) %out, i64 8
  store i1 %letter, ptr addrspace(1) %p.out, align 1
  ret void
}

declare i32 @llvm.abs.i32(i32, i1)

attributes #0 = { nounwind }
