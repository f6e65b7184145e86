; opt=3
; while x >> k > 0: k += 1, with another counter.
define ptx_kernel void @k(i64 %x, ptr addrspace(1) align 8 %out) #0 {
entry:
  br label %loop

loop:                                             ; preds = %loop, %entry
  %k = phi i64 [ %k.next, %loop ], [ 3, %entry ]
  %n = phi i64 [ %n.next, %loop ], [ 100, %entry ]
  %by = call i64 @llvm.umin.i64(i64 %k, i64 63)
  %shifted = ashr i64 %x, %by
  %more = icmp sgt i64 %shifted, 0
  %k.next = add i64 %k, 1
  %n.next = add i64 %n, -7
  br i1 %more, label %loop, label %end

end:                                              ; preds = %loop
  %sum = add i64 %k, %n
  store i64 %sum, ptr addrspace(1) %out, align 8
  ret void
}

; Of unsigned numbers, which are asked for their width in front of the shift.
define ptx_kernel void @asks(i32 %x, ptr addrspace(1) align 4 %out) #0 {
entry:
  br label %loop

loop:                                             ; preds = %loop, %entry
  %k = phi i32 [ %k.next, %loop ], [ 0, %entry ]
  %all = icmp samesign ugt i32 %k, 31
  %shifted = lshr i32 %x, %k
  %none = icmp eq i32 %shifted, 0
  %ends = select i1 %all, i1 true, i1 %none
  %k.next = add nuw nsw i32 %k, 1
  br i1 %ends, label %end, label %loop

end:                                              ; preds = %loop
  store i32 %k, ptr addrspace(1) %out, align 4
  ret void
}

; Not where a negative number has no end, nor where what the loop leaves is one more than k.
define ptx_kernel void @stays(i64 %x, ptr addrspace(1) align 8 %out) #0 {
entry:
  br label %loop

loop:                                             ; preds = %loop, %entry
  %k = phi i64 [ %k.next, %loop ], [ 0, %entry ]
  %by = call i64 @llvm.umin.i64(i64 %k, i64 63)
  %shifted = ashr i64 %x, %by
  %none = icmp eq i64 %shifted, 0
  %k.next = add i64 %k, 1
  br i1 %none, label %second, label %loop

second:                                           ; preds = %second, %loop
  %j = phi i64 [ %j.next, %second ], [ 0, %loop ]
  %by.j = call i64 @llvm.umin.i64(i64 %j, i64 63)
  %shifted.j = ashr i64 %x, %by.j
  %more = icmp sgt i64 %shifted.j, 0
  %j.next = add i64 %j, 1
  br i1 %more, label %second, label %end

end:                                              ; preds = %second
  %sum = add i64 %k, %j.next
  store i64 %sum, ptr addrspace(1) %out, align 8
  ret void
}

declare i64 @llvm.umin.i64(i64, i64) #1

attributes #0 = { nounwind }
attributes #1 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
