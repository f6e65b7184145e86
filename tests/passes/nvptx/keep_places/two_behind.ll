; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 4 %taps, ptr addrspace(1) align 4 %x, ptr addrspace(1) align 4 %out, i32 %n, i32 %up, i32 %phase, i32 %base) #0 {
entry:
  br label %loop

loop:                                             ; preds = %last, %entry
  %k = phi i32 [ 0, %entry ], [ %next, %last ]
  %sum = phi float [ 0.0, %entry ], [ %more, %last ]
  %j = sub i32 %base, %k
  %inside = icmp ult i32 %j, %n
  br i1 %inside, label %read, label %join

read:                                             ; preds = %loop
  %row = mul i32 %k, %up
  %at = add i32 %row, %phase
  %at.wide = sext i32 %at to i64
  %tap = getelementptr float, ptr addrspace(1) %taps, i64 %at.wide
  %a = load float, ptr addrspace(1) %tap, align 4
  %j.wide = sext i32 %j to i64
  %place = getelementptr float, ptr addrspace(1) %x, i64 %j.wide
  %b = load float, ptr addrspace(1) %place, align 4
  %product = fmul float %a, %b
  %added = fadd float %sum, %product
  br label %join

join:                                             ; preds = %read, %loop
  %more = phi float [ %sum, %loop ], [ %added, %read ]
  %odd = trunc i32 %k to i1
  br i1 %odd, label %three, label %last

three:                                            ; preds = %join
  %r2 = mul i32 %k, %n
  %w2 = sext i32 %r2 to i64
  %p2 = getelementptr float, ptr addrspace(1) %x, i64 %w2
  %a2 = load float, ptr addrspace(1) %p2, align 4
  %p3 = getelementptr float, ptr addrspace(1) %taps, i64 %w2
  %a3 = load float, ptr addrspace(1) %p3, align 4
  %p4 = getelementptr float, ptr addrspace(1) %out, i64 %w2
  %a4 = load float, ptr addrspace(1) %p4, align 4
  %s3 = fadd float %a2, %a3
  %s4 = fadd float %s3, %a4
  store float %s4, ptr addrspace(1) %out, align 4
  br label %last

last:                                             ; preds = %three, %join
  %next = add nuw nsw i32 %k, 1
  %again = icmp slt i32 %next, 64
  br i1 %again, label %loop, label %done

done:                                             ; preds = %last
  store float %more, ptr addrspace(1) %out, align 4
  ret void
}

attributes #0 = { nounwind }
