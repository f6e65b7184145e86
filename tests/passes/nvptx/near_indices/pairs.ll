; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 4 %p, i32 range(i32 0, -2147483648) %n, i32 %y, ptr addrspace(1) align 4 %out) #0 {
entry:
  br label %loop

loop:                                             ; preds = %loop, %entry
  %k = phi i64 [ 0, %entry ], [ %k.1, %loop ]
  %from = getelementptr inbounds i32, ptr addrspace(1) %p, i64 %k
  %place = load i32, ptr addrspace(1) %from, align 4
  %a = add i32 %place, %y
  %a.n = add i32 %a, %n
  %a.in = call i32 @llvm.umin.i32(i32 %a, i32 %a.n)
  %a.wide = sext i32 %a.in to i64
  %a.at = getelementptr inbounds i32, ptr addrspace(1) %p, i64 %a.wide
  %v = load i32, ptr addrspace(1) %a.at, align 4
  %b = add i32 %a, -1
  %b.n = add i32 %n, %b
  %b.in = call i32 @llvm.umin.i32(i32 %b.n, i32 %b)
  %b.wide = sext i32 %b.in to i64
  %b.at = getelementptr inbounds i32, ptr addrspace(1) %p, i64 %b.wide
  %w = load i32, ptr addrspace(1) %b.at, align 4
  %next = getelementptr inbounds i8, ptr addrspace(1) %from, i64 4
  %place.2 = load i32, ptr addrspace(1) %next, align 4
  %c = add i32 %place.2, %y
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
  %f = mul i32 %place.2, %y
  %f.n = add i32 %f, %n
  %f.in = call i32 @llvm.umin.i32(i32 %f, i32 %f.n)
  %f.wide = sext i32 %f.in to i64
  %f.at = getelementptr inbounds i32, ptr addrspace(1) %p, i64 %f.wide
  %f.v = load i32, ptr addrspace(1) %f.at, align 4
  %g = add i32 %f, 2
  %g.n = add i32 %g, %n
  %g.in = call i32 @llvm.umin.i32(i32 %g, i32 %g.n)
  %g.wide = sext i32 %g.in to i64
  %g.at = getelementptr inbounds i32, ptr addrspace(1) %p, i64 %g.wide
  %g.v = load i32, ptr addrspace(1) %g.at, align 4
  %e.n = add i32 %v, %n
  %e.in = call i32 @llvm.umin.i32(i32 %v, i32 %e.n)
  %e.wide = sext i32 %e.in to i64
  %e.at = getelementptr inbounds i32, ptr addrspace(1) %p, i64 %e.wide
  %alone = load i32, ptr addrspace(1) %e.at, align 4
  %s = add i32 %v, %w
  %s.1 = add i32 %x, %z
  %s.2 = add i32 %s, %s.1
  %both = mul i32 %f.v, %g.v
  %more = add i32 %both, %alone
  %s.3 = add i32 %s.2, %more
  %k.1 = add nuw i64 %k, 1
  %to = getelementptr inbounds i32, ptr addrspace(1) %out, i64 %k
  store i32 %s.3, ptr addrspace(1) %to, align 4
  %on = icmp ult i64 %k.1, 10
  br i1 %on, label %loop, label %done

done:                                             ; preds = %loop
  ret void
}

declare i32 @llvm.umin.i32(i32, i32)

attributes #0 = { nounwind }
