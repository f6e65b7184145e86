; opt=3
; The loop goes from one edge to a neighbour until one is found: the next address is known beside the
; comparison. Where another number says how often the loop runs, nothing waits for the load.
define ptx_kernel void @k(ptr addrspace(1) align 4 %edges, i32 range(i32 0, -2147483648) %extent, ptr addrspace(1) align 4 %out, i32 %x) #0 {
entry:
  %last = add nsw i32 %extent, -1
  br label %walk

walk:
  %k = phi i32 [ %last, %entry ], [ %k.next, %walk ]
  %end = add i32 %k, %extent
  %wrapped = call i32 @llvm.umin.i32(i32 %k, i32 %end)
  %wide = sext i32 %wrapped to i64
  %p = getelementptr i32, ptr addrspace(1) %edges, i64 %wide
  %edge = load i32, ptr addrspace(1) %p, align 4
  %k.next = add i32 %k, -1
  %more = icmp slt i32 %x, %edge
  br i1 %more, label %walk, label %found

found:
  store i32 %k, ptr addrspace(1) %out, align 4
  br label %counted

counted:
  %n = phi i32 [ 0, %found ], [ %n.next, %counted ]
  %sum = phi i32 [ 0, %found ], [ %sum.next, %counted ]
  %n.wide = sext i32 %n to i64
  %q = getelementptr i32, ptr addrspace(1) %edges, i64 %n.wide
  %v = load i32, ptr addrspace(1) %q, align 4
  %sum.next = add i32 %sum, %v
  %n.next = add nsw i32 %n, 1
  %again = icmp ne i32 %n.next, %extent
  br i1 %again, label %counted, label %done

done:
  store i32 %sum.next, ptr addrspace(1) %out, align 4
  ret void
}

declare i32 @llvm.umin.i32(i32, i32) #1

attributes #0 = { nounwind }
attributes #1 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
