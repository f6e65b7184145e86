; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 1 %text, ptr addrspace(1) align 4 %out, i32 %n, i32 %begin, i32 %extent) #0 {
entry:
  br label %loop

loop:                                             ; preds = %plain, %entry
  %p = phi i32 [ 0, %entry ], [ %next, %plain ]
  %sum = phi i32 [ 0, %entry ], [ %more, %plain ]
  %inside = icmp slt i32 %p, %n
  br i1 %inside, label %read, label %join

read:                                             ; preds = %loop
  %at = add i32 %begin, %p
  %end = add i32 %at, %extent
  %wrapped = call i32 @llvm.umin.i32(i32 %at, i32 %end)
  %wide = sext i32 %wrapped to i64
  %address = getelementptr i8, ptr addrspace(1) %text, i64 %wide
  %byte = load i8, ptr addrspace(1) %address, align 1
  %from = zext i8 %byte to i32
  br label %join

join:                                             ; preds = %read, %loop
  %v = phi i32 [ 128, %loop ], [ %from, %read ]
  %odd = trunc i32 %p to i1
  br i1 %odd, label %side, label %plain

side:                                             ; preds = %join
  %near = add i32 %p, %begin
  %near.wide = sext i32 %near to i64
  %beside = getelementptr i8, ptr addrspace(1) %text, i64 %near.wide
  %other = load i8, ptr addrspace(1) %beside, align 1
  %o = zext i8 %other to i32
  br label %plain

plain:                                            ; preds = %side, %join
  %w = phi i32 [ %v, %join ], [ %o, %side ]
  %more = add i32 %sum, %w
  %next = add nuw nsw i32 %p, 1
  %again = icmp slt i32 %next, 64
  br i1 %again, label %loop, label %done

done:                                             ; preds = %plain
  store i32 %more, ptr addrspace(1) %out, align 4
  ret void
}

declare i32 @llvm.umin.i32(i32, i32)

attributes #0 = { nounwind }
