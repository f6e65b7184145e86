; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, i32 %n, ptr addrspace(1) align 4 %out) #0 {
entry:
  %v = load i32, ptr addrspace(1) %x, align 4
  %some = icmp ugt i32 %n, 1
  br i1 %some, label %yes, label %loop

yes:                                              ; preds = %entry
  store i32 %v, ptr addrspace(1) %out, align 4
  br label %end

loop:                                             ; preds = %loop, %entry
  %k = phi i32 [ 0, %entry ], [ %next, %loop ]
  %at = zext nneg i32 %k to i64
  %p = getelementptr inbounds i32, ptr addrspace(1) %x, i64 %at
  %w = load i32, ptr addrspace(1) %p, align 4
  %next = add nuw nsw i32 %k, 1
  %more = icmp ult i32 %next, %w
  br i1 %more, label %loop, label %out_of_it

out_of_it:                                        ; preds = %loop
  %sum = add i32 %w, %n
  store i32 %sum, ptr addrspace(1) %out, align 4
  br label %end

end:                                              ; preds = %out_of_it, %yes
  ret void
}

attributes #0 = { nounwind }
