; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 4 %p, i32 range(i32 0, -2147483648) %n, ptr addrspace(1) align 4 %out) #0 {
entry:
  %a = load i32, ptr addrspace(1) %out, align 4
  %a.n = add i32 %a, %n
  %a.in = call i32 @llvm.umin.i32(i32 %a, i32 %a.n)
  %a.wide = sext i32 %a.in to i64
  %a.at = getelementptr inbounds i32, ptr addrspace(1) %p, i64 %a.wide
  %v = load i32, ptr addrspace(1) %a.at, align 4
  %b = add i32 %a, 1
  %b.n = add i32 %b, %n
  %b.in = call i32 @llvm.umin.i32(i32 %b, i32 %b.n)
  %b.wide = sext i32 %b.in to i64
  %b.at = getelementptr inbounds i32, ptr addrspace(1) %p, i64 %b.wide
  %w = load i32, ptr addrspace(1) %b.at, align 4
  %s = add i32 %v, %w
  store i32 %s, ptr addrspace(1) %p, align 4
  %c = load i32, ptr addrspace(1) %p, align 4
  %c.n = add i32 %c, %n
  %c.in = call i32 @llvm.umin.i32(i32 %c, i32 %c.n)
  %c.wide = sext i32 %c.in to i64
  %c.at = getelementptr inbounds i32, ptr addrspace(1) %p, i64 %c.wide
  %x = load i32, ptr addrspace(1) %c.at, align 4
  %d = add i32 %c, 1
  %d.n = add i32 %d, %n
  %d.in = call i32 @llvm.umin.i32(i32 %d, i32 %d.n)
  %d.wide = sext i32 %d.in to i64
  %d.at = getelementptr inbounds i32, ptr addrspace(1) %p, i64 %d.wide
  %z = load i32, ptr addrspace(1) %d.at, align 4
  %e = mul i32 %c, 3
  %e.n = add i32 %e, %n
  %e.in = call i32 @llvm.umin.i32(i32 %e, i32 %e.n)
  %e.wide = sext i32 %e.in to i64
  %e.at = getelementptr inbounds i32, ptr addrspace(1) %p, i64 %e.wide
  %e.v = load i32, ptr addrspace(1) %e.at, align 4
  %f = add i32 %e, 1
  %f.n = add i32 %f, %n
  %f.in = call i32 @llvm.umin.i32(i32 %f, i32 %f.n)
  %f.wide = sext i32 %f.in to i64
  %f.at = getelementptr inbounds i32, ptr addrspace(1) %p, i64 %f.wide
  %f.v = load i32, ptr addrspace(1) %f.at, align 4
  %both = add i32 %e.v, %f.v
  %xz = add i32 %x, %z
  %t = add i32 %xz, %both
  store i32 %t, ptr addrspace(1) %out, align 4
  ret void
}

declare i32 @llvm.umin.i32(i32, i32)

attributes #0 = { nounwind }
