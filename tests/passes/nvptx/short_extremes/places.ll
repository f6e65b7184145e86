; opt=3
; A place: what is compared is loaded, so the phi has 32 bits; the one that is computed, the one that is only stored, and one of both signs stay.
define ptx_kernel void @k(ptr addrspace(1) align 1 %x, i32 %n, ptr addrspace(1) align 8 %out) #0 {
entry:
  br label %loop

loop:                                             ; preds = %loop, %entry
  %k = phi i32 [ 0, %entry ], [ %next, %loop ]
  %best = phi i8 [ -128, %entry ], [ %now, %loop ]
  %place = phi i32 [ -1, %entry ], [ %where, %loop ]
  %last = phi i8 [ 0, %entry ], [ %v, %loop ]
  %count = phi i8 [ 0, %entry ], [ %counted, %loop ]
  %mixed = phi i8 [ 0, %entry ], [ %both, %loop ]
  %at = getelementptr inbounds i8, ptr addrspace(1) %x, i32 %k
  %v = load i8, ptr addrspace(1) %at, align 1
  %more = icmp sgt i8 %v, %best
  %now = select i1 %more, i8 %v, i8 %best
  %where = select i1 %more, i32 %k, i32 %place
  %counted = add i8 %count, 3
  %odd = icmp ult i8 %count, 9
  %one = call i8 @llvm.smax.i8(i8 %mixed, i8 %v)
  %both = call i8 @llvm.umin.i8(i8 %one, i8 100)
  store i1 %odd, ptr addrspace(1) %out, align 1
  %next = add nuw nsw i32 %k, 1
  %on = icmp ult i32 %next, %n
  br i1 %on, label %loop, label %end

end:                                              ; preds = %loop
  %same = icmp eq i8 %now, %last
  %a = select i1 %same, i32 %where, i32 0
  store i32 %a, ptr addrspace(1) %out, align 8
  %second = getelementptr inbounds i8, ptr addrspace(1) %out, i64 8
  store i8 %last, ptr addrspace(1) %second, align 1
  %third = getelementptr inbounds i8, ptr addrspace(1) %out, i64 16
  store i8 %both, ptr addrspace(1) %third, align 1
  ret void
}

declare i8 @llvm.smax.i8(i8, i8)
declare i8 @llvm.umin.i8(i8, i8)

attributes #0 = { nounwind }
