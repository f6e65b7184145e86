; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, i32 %row, i32 %n) {
entry:
  %hoisted = add nuw nsw i32 %row, 3
  %before = add nuw nsw i32 %row, -3
  br label %loop

loop:                                             ; preds = %loop, %entry
  %k = phi i32 [ 0, %entry ], [ %next, %loop ]
  %i.1 = add nuw nsw i32 %k, %hoisted
  %i.1.wide = zext nneg i32 %i.1 to i64
  %p.1 = getelementptr inbounds float, ptr addrspace(1) %x, i64 %i.1.wide
  store float 1.000000e+00, ptr addrspace(1) %p.1, align 4
  %next = add nuw nsw i32 %k, 8
  %i.2 = add nuw nsw i32 %hoisted, %next
  %i.2.wide = zext nneg i32 %i.2 to i64
  %p.2 = getelementptr inbounds float, ptr addrspace(1) %x, i64 %i.2.wide
  store float 2.000000e+00, ptr addrspace(1) %p.2, align 4
  %i.3 = add nsw i32 %k, %hoisted
  %i.3.wide = zext nneg i32 %i.3 to i64
  %p.3 = getelementptr inbounds float, ptr addrspace(1) %x, i64 %i.3.wide
  store float 3.000000e+00, ptr addrspace(1) %p.3, align 4
  %i.4 = add nuw nsw i32 %k, %before
  %i.4.wide = zext nneg i32 %i.4 to i64
  %p.4 = getelementptr inbounds float, ptr addrspace(1) %x, i64 %i.4.wide
  store float 4.000000e+00, ptr addrspace(1) %p.4, align 4
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %done

done:                                             ; preds = %loop
  ret void
}
