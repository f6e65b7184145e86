; opt=3
; for k in range(n), where n is a number of bits, and, with a limit that nothing is known of, or that may be passed, not.
define ptx_kernel void @k(i64 %x, ptr addrspace(1) align 8 %out) #0 {
entry:
  %n = call i64 @llvm.ctpop.i64(i64 %x)
  %none = icmp eq i64 %n, 0
  br i1 %none, label %end, label %loop

loop:                                             ; preds = %loop, %entry
  %k = phi i64 [ 0, %entry ], [ %next, %loop ]
  %next = add nuw nsw i64 %k, 1
  store volatile i64 %k, ptr addrspace(1) %out, align 8
  %last = icmp eq i64 %next, %n
  br i1 %last, label %end, label %loop

end:                                              ; preds = %loop, %entry
  ret void
}

define ptx_kernel void @stays(i64 %x, i64 %m, ptr addrspace(1) align 8 %out) #0 {
entry:
  %n = call i64 @llvm.ctpop.i64(i64 %x)
  %none = icmp eq i64 %n, 0
  br i1 %none, label %end, label %loop

loop:                                             ; preds = %loop, %entry
  %k = phi i64 [ 1, %entry ], [ %next, %loop ]
  %next = add nuw nsw i64 %k, 1
  store volatile i64 %k, ptr addrspace(1) %out, align 8
  %last = icmp eq i64 %next, %n
  br i1 %last, label %ahead, label %loop

ahead:                                            ; preds = %loop
  %some = icmp sgt i64 %m, 0
  br i1 %some, label %second, label %end

second:                                           ; preds = %second, %ahead
  %j = phi i64 [ 0, %ahead ], [ %next.j, %second ]
  %next.j = add nuw nsw i64 %j, 1
  store volatile i64 %j, ptr addrspace(1) %out, align 8
  %last.j = icmp eq i64 %next.j, %m
  br i1 %last.j, label %end, label %second

end:                                              ; preds = %second, %ahead, %entry
  ret void
}

declare i64 @llvm.ctpop.i64(i64) #1

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
