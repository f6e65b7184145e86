; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 4 %parent, i32 range(i32 0, -2147483648) %extent, ptr addrspace(1) align 4 %out, i32 %from) #0 {
entry:
  br label %loop

loop:                                             ; preds = %loop, %entry
  %x = phi i32 [ %from, %entry ], [ %next, %loop ]
  %end = add i32 %x, %extent
  %wrapped = call i32 @llvm.umin.i32(i32 %x, i32 %end)
  %wide = sext i32 %wrapped to i64
  %p = getelementptr i32, ptr addrspace(1) %parent, i64 %wide
  %next = load i32, ptr addrspace(1) %p, align 4
  %again = icmp ne i32 %next, %x
  br i1 %again, label %loop, label %done

done:                                             ; preds = %loop
  store i32 1, ptr addrspace(1) %p, align 4
  br label %count

count:                                            ; preds = %count, %done
  %k = phi i32 [ 0, %done ], [ %k.next, %count ]
  %k.wide = sext i32 %k to i64
  %q = getelementptr i32, ptr addrspace(1) %out, i64 %k.wide
  %v = load i32, ptr addrspace(1) %q, align 4
  %k.next = add nsw i32 %k, 1
  %more = icmp slt i32 %v, %extent
  br i1 %more, label %count, label %behind

behind:                                           ; preds = %count
  ret void
}

declare i32 @llvm.umin.i32(i32, i32) #1

attributes #0 = { nounwind }
attributes #1 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
