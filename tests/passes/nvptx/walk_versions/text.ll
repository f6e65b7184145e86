; opt=3
; A walk forwards from a position that was read, with three wraps: two versions, the first without
; minima. What is behind the loop takes the position from either.
define ptx_kernel void @k(ptr addrspace(1) align 1 %text, i32 range(i32 0, -2147483648) %n, ptr addrspace(1) align 4 %starts, i32 %end, ptr addrspace(1) align 4 %out) #0 {
entry:
  %start = load i32, ptr addrspace(1) %starts, align 4
  %any = icmp slt i32 %start, %end
  br i1 %any, label %loop, label %done

loop:                                             ; preds = %next, %entry
  %i = phi i32 [ %start, %entry ], [ %j, %next ]
  %up = add i32 %i, %n
  %at = call i32 @llvm.umin.i32(i32 %i, i32 %up)
  %wide = sext i32 %at to i64
  %p = getelementptr i8, ptr addrspace(1) %text, i64 %wide
  %c = load i8, ptr addrspace(1) %p, align 1
  %one = add nsw i32 %i, 1
  %long = icmp slt i8 %c, 0
  br i1 %long, label %second, label %next

second:                                           ; preds = %loop
  %up1 = add i32 %one, %n
  %at1 = call i32 @llvm.umin.i32(i32 %one, i32 %up1)
  %wide1 = sext i32 %at1 to i64
  %p1 = getelementptr i8, ptr addrspace(1) %text, i64 %wide1
  %d = load i8, ptr addrspace(1) %p1, align 1
  %two = add nsw i32 %i, 2
  %up2 = add i32 %two, %n
  %at2 = call i32 @llvm.umin.i32(i32 %two, i32 %up2)
  %wide2 = sext i32 %at2 to i64
  %p2 = getelementptr i8, ptr addrspace(1) %text, i64 %wide2
  %e = load i8, ptr addrspace(1) %p2, align 1
  %both = and i8 %d, %e
  %bad = icmp sgt i8 %both, 0
  br i1 %bad, label %done, label %next

next:                                             ; preds = %second, %loop
  %j = phi i32 [ %one, %loop ], [ %two, %second ]
  %more = icmp slt i32 %j, %end
  br i1 %more, label %loop, label %done

done:                                             ; preds = %next, %second, %entry
  %where = phi i32 [ %start, %entry ], [ %i, %second ], [ %j, %next ]
  store i32 %where, ptr addrspace(1) %out, align 4
  ret void
}

declare i32 @llvm.umin.i32(i32, i32)

attributes #0 = { nounwind }
