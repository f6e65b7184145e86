; opt=3
; Any number of 32 bits, with or without a sign, next to which there is none; a bound that fits; one that changes; equality; no loop.
define ptx_kernel void @k(ptr addrspace(1) align 4 %out, ptr addrspace(1) align 4 %x, i64 %fixed, i32 %n) #0 {
entry:
  %fits = sext i32 %n to i64
  %first = load i32, ptr addrspace(1) %x, align 4
  %shifted = lshr i32 %first, 1
  %once = zext nneg i32 %shifted to i64
  %outside = icmp slt i64 %once, %fixed
  %o = zext i1 %outside to i32
  br label %col

col:
  %c = phi i32 [ %o, %entry ], [ %c.next, %col ]
  %p = getelementptr inbounds i32, ptr addrspace(1) %x, i32 %c
  %v = load i32, ptr addrspace(1) %p, align 4
  %any = sext i32 %v to i64
  %a = icmp slt i64 %any, %fixed
  %positive = zext i32 %v to i64
  %b = icmp slt i64 %positive, %fixed
  %half = lshr i32 %v, 1
  %wide = zext nneg i32 %half to i64
  %d = icmp slt i64 %wide, %fits
  %bound = mul i64 %fixed, %wide
  %e = icmp slt i64 %wide, %bound
  %f = icmp eq i64 %wide, %fixed
  %ab = xor i1 %a, %b
  %de = xor i1 %d, %e
  %abde = xor i1 %ab, %de
  %all = xor i1 %abde, %f
  %s = zext i1 %all to i32
  store i32 %s, ptr addrspace(1) %out, align 4
  %c.next = add nuw nsw i32 %c, 1
  %c.more = icmp slt i32 %c.next, %n
  br i1 %c.more, label %col, label %end

end:
  ret void
}
attributes #0 = { nounwind }
