; opt=3
; The least number has no magnitude; one is stored, too; a bound changes; orders without a sign; a constant; no loop.
define ptx_kernel void @k(ptr addrspace(1) align 4 %out, i32 %guard, i32 %any, i32 %cols) #0 {
entry:
  %outside = call i32 @llvm.abs.i32(i32 %any, i1 true)
  %o = icmp sgt i32 %outside, %guard
  %first = zext i1 %o to i32
  br label %col

col:
  %c = phi i32 [ %first, %entry ], [ %c.next, %col ]
  %d = mul i32 %c, %any
  %least = call i32 @llvm.abs.i32(i32 %d, i1 false)
  %a = icmp sgt i32 %least, %guard
  %e = sub nsw i32 %c, %any
  %stored = call i32 @llvm.abs.i32(i32 %e, i1 true)
  %b = icmp sgt i32 %stored, %guard
  store i32 %stored, ptr addrspace(1) %out, align 4
  %f = xor i32 %c, %any
  %size = call i32 @llvm.abs.i32(i32 %f, i1 true)
  %x = icmp slt i32 %size, %c
  %y = icmp ult i32 %size, %guard
  %z = icmp slt i32 %size, 1000
  %ab = xor i1 %a, %b
  %xy = xor i1 %x, %y
  %abxy = xor i1 %ab, %xy
  %all = xor i1 %abxy, %z
  %v = zext i1 %all to i32
  store i32 %v, ptr addrspace(1) %out, align 4
  %c.next = add nuw nsw i32 %c, 1
  %c.more = icmp slt i32 %c.next, %cols
  br i1 %c.more, label %col, label %end

end:
  ret void
}

declare i32 @llvm.abs.i32(i32, i1 immarg)
attributes #0 = { nounwind }
