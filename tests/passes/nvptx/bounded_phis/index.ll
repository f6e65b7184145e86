; opt=3
; while 0 <= x < n: x += 1 with a[x], whose index was wrapped, and b[x - 1], whose index still is.
define ptx_kernel void @k(ptr addrspace(1) align 4 %a, i32 range(i32 0, -2147483648) %extent, i64 %first, i32 range(i32 0, -2147483648) %n, ptr addrspace(1) align 4 %out) #0 {
entry:
  %stop = zext nneg i32 %n to i64
  %from = icmp sgt i64 %first, -1
  %to = icmp slt i64 %first, %stop
  %enters = and i1 %from, %to
  br i1 %enters, label %loop, label %end

loop:                                             ; preds = %entry, %more
  %x = phi i64 [ %first, %entry ], [ %next, %more ]
  %low = trunc i64 %x to i32
  %wrapped = add i32 %low, %extent
  %at = call i32 @llvm.umin.i32(i32 %low, i32 %wrapped)
  %wide = sext i32 %at to i64
  %p = getelementptr inbounds i32, ptr addrspace(1) %a, i64 %wide
  %v = load i32, ptr addrspace(1) %p, align 4
  %below = add i32 %low, -1
  %wrapped.below = add i32 %below, %extent
  %at.below = call i32 @llvm.umin.i32(i32 %below, i32 %wrapped.below)
  %wide.below = sext i32 %at.below to i64
  %q = getelementptr inbounds i32, ptr addrspace(1) %a, i64 %wide.below
  %w = load i32, ptr addrspace(1) %q, align 4
  %goes = icmp ne i32 %v, %w
  br i1 %goes, label %more, label %end

more:                                             ; preds = %loop
  %next = add nsw i64 %x, 1
  %again = icmp slt i64 %next, %stop
  br i1 %again, label %loop, label %end

end:                                              ; preds = %entry, %loop, %more
  %found = phi i64 [ -1, %entry ], [ %x, %loop ], [ %next, %more ]
  %result = trunc i64 %found to i32
  store i32 %result, ptr addrspace(1) %out, align 4
  ret void
}

declare i32 @llvm.umin.i32(i32, i32) #1

attributes #0 = { nounwind }
attributes #1 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
