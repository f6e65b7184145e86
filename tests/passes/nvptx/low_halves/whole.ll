; opt=3
; Of %k, a multiple of 4, a mask keeps all of the low half of 4 * %k: it is not masked. That of
; 2 * %k would lose a bit, and %m, which steps by 1, has no zeros.
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, ptr addrspace(1) align 4 %y, i32 %n) #0 {
entry:
  br label %loop

loop:                                             ; preds = %loop, %entry
  %k = phi i64 [ 0, %entry ], [ %k.4, %loop ]
  %m = phi i64 [ 0, %entry ], [ %m.1, %loop ]
  %j = phi i32 [ 0, %entry ], [ %j.1, %loop ]
  %four = shl nuw nsw i64 %k, 2
  %whole = and i64 %four, 4294967280
  %p = getelementptr float, ptr addrspace(1) %x, i64 %whole
  %a = load float, ptr addrspace(1) %p, align 4
  %two = shl nuw nsw i64 %k, 1
  %less = and i64 %two, 4294967280
  %q = getelementptr float, ptr addrspace(1) %x, i64 %less
  %b = load float, ptr addrspace(1) %q, align 4
  %times = shl nuw nsw i64 %m, 2
  %part = and i64 %times, 4294967280
  %r = getelementptr float, ptr addrspace(1) %x, i64 %part
  %c = load float, ptr addrspace(1) %r, align 4
  %s = fadd float %a, %b
  %t = fadd float %s, %c
  store float %t, ptr addrspace(1) %y, align 4
  %k.4 = add nuw nsw i64 %k, 4
  %m.1 = add nuw nsw i64 %m, 1
  %j.1 = add nuw nsw i32 %j, 1
  %on = icmp slt i32 %j.1, %n
  br i1 %on, label %loop, label %done

done:                                             ; preds = %loop
  ret void
}

attributes #0 = { nounwind }
