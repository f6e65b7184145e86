; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, ptr addrspace(1) align 4 %y, ptr addrspace(1) align 4 %out, i32 %n, i32 %extent) #0 {
entry:
  br label %loop

loop:                                             ; preds = %latch, %entry
  %e = phi i32 [ 0, %entry ], [ %next, %latch ]
  %e.wide = zext nneg i32 %e to i64
  %p.u = getelementptr i32, ptr addrspace(1) %x, i64 %e.wide
  %u = load i32, ptr addrspace(1) %p.u, align 4
  %u.wide = sext i32 %u to i64
  %p.level = getelementptr i32, ptr addrspace(1) %y, i64 %u.wide
  %level = load i32, ptr addrspace(1) %p.level, align 4
  %unseen = icmp slt i32 %level, 0
  br i1 %unseen, label %mark, label %latch

mark:                                             ; preds = %loop
  %end = add i32 %u, %extent
  %wrapped = call i32 @llvm.umin.i32(i32 %u, i32 %end)
  %wrapped.wide = sext i32 %wrapped to i64
  %p.out = getelementptr i32, ptr addrspace(1) %out, i64 %wrapped.wide
  store i32 1, ptr addrspace(1) %p.out, align 4
  %more = load i64, ptr addrspace(1) %out, align 8
  %p.late = getelementptr i32, ptr addrspace(1) %out, i64 %more
  store i32 2, ptr addrspace(1) %p.late, align 4
  br label %latch

latch:                                            ; preds = %mark, %loop
  %next = add nuw nsw i32 %e, 1
  %again = icmp slt i32 %next, %n
  br i1 %again, label %loop, label %behind

behind:                                           ; preds = %latch
  %last = load i32, ptr addrspace(1) %x, align 4
  %set = icmp sgt i32 %last, 0
  br i1 %set, label %once, label %done

once:                                             ; preds = %behind
  %n.wide = sext i32 %n to i64
  %p.once = getelementptr i32, ptr addrspace(1) %out, i64 %n.wide
  store i32 3, ptr addrspace(1) %p.once, align 4
  br label %done

done:                                             ; preds = %once, %behind
  ret void
}

declare i32 @llvm.umin.i32(i32, i32)

attributes #0 = { nounwind }
