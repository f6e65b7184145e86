; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, i32 %1, i32 %2) #0 {
entry:
  br label %head

head:                                             ; preds = %entry, %join
  %j = phi i32 [ 0, %entry ], [ %next, %join ]
  %c = phi i32 [ 0, %entry ], [ %now, %join ]
  %wide = zext nneg i32 %j to i64
  %at = getelementptr inbounds float, ptr addrspace(1) %0, i64 %wide
  %x = load float, ptr addrspace(1) %at, align 4
  %positive = fcmp ogt float %x, 0.000000e+00
  br i1 %positive, label %more, label %other

more:                                             ; preds = %head
  %up = add nsw i32 %c, 1
  br label %join

other:                                            ; preds = %head
  %negative = fcmp olt float %x, 0.000000e+00
  br i1 %negative, label %less, label %join

less:                                             ; preds = %other
  %down = sub nsw i32 %c, 1
  br label %join

join:                                             ; preds = %more, %other, %less
  %now = phi i32 [ %up, %more ], [ %c, %other ], [ %down, %less ]
  %next = add nuw nsw i32 %j, 1
  %on = icmp slt i32 %next, %1
  br i1 %on, label %head, label %exit

exit:                                             ; preds = %join
  store i32 %now, ptr addrspace(1) %0, align 4
  ret void
}

attributes #0 = { nounwind }
