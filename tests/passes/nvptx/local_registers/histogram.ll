; opt=3
; A histogram of a thread: its bin is one of eight that are known, but the loop would carry all of them.
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, ptr addrspace(1) align 4 %out, i32 %n) #0 {
entry:
  %bins = alloca [32 x i8], align 4
  %z0 = getelementptr inbounds i8, ptr %bins, i64 0
  store i32 0, ptr %z0, align 4
  %z1 = getelementptr inbounds i8, ptr %bins, i64 4
  store i32 0, ptr %z1, align 4
  %z2 = getelementptr inbounds i8, ptr %bins, i64 8
  store i32 0, ptr %z2, align 4
  %z3 = getelementptr inbounds i8, ptr %bins, i64 12
  store i32 0, ptr %z3, align 4
  %z4 = getelementptr inbounds i8, ptr %bins, i64 16
  store i32 0, ptr %z4, align 4
  %z5 = getelementptr inbounds i8, ptr %bins, i64 20
  store i32 0, ptr %z5, align 4
  %z6 = getelementptr inbounds i8, ptr %bins, i64 24
  store i32 0, ptr %z6, align 4
  %z7 = getelementptr inbounds i8, ptr %bins, i64 28
  store i32 0, ptr %z7, align 4
  br label %loop

loop:                                             ; preds = %loop, %entry
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %at = zext nneg i32 %i to i64
  %p = getelementptr inbounds float, ptr addrspace(1) %x, i64 %at
  %v = load float, ptr addrspace(1) %p, align 4
  %c1 = fcmp ogt float %v, 1.0
  %b1 = select i1 %c1, i64 1, i64 0
  %c2 = fcmp ogt float %v, 2.0
  %b2 = select i1 %c2, i64 2, i64 %b1
  %c3 = fcmp ogt float %v, 3.0
  %b3 = select i1 %c3, i64 3, i64 %b2
  %c4 = fcmp ogt float %v, 4.0
  %b4 = select i1 %c4, i64 4, i64 %b3
  %c5 = fcmp ogt float %v, 5.0
  %b5 = select i1 %c5, i64 5, i64 %b4
  %c6 = fcmp ogt float %v, 6.0
  %b6 = select i1 %c6, i64 6, i64 %b5
  %c7 = fcmp ogt float %v, 7.0
  %b7 = select i1 %c7, i64 7, i64 %b6
  %q = getelementptr inbounds i32, ptr %bins, i64 %b7
  %old = load i32, ptr %q, align 4
  %new = add i32 %old, 1
  store i32 %new, ptr %q, align 4
  %next = add nuw nsw i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %end

end:                                              ; preds = %loop
  %r0 = load i32, ptr %z0, align 4
  %o0 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 0
  store i32 %r0, ptr addrspace(1) %o0, align 4
  %r1 = load i32, ptr %z1, align 4
  %o1 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 1
  store i32 %r1, ptr addrspace(1) %o1, align 4
  %r2 = load i32, ptr %z2, align 4
  %o2 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 2
  store i32 %r2, ptr addrspace(1) %o2, align 4
  %r3 = load i32, ptr %z3, align 4
  %o3 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 3
  store i32 %r3, ptr addrspace(1) %o3, align 4
  %r4 = load i32, ptr %z4, align 4
  %o4 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 4
  store i32 %r4, ptr addrspace(1) %o4, align 4
  %r5 = load i32, ptr %z5, align 4
  %o5 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 5
  store i32 %r5, ptr addrspace(1) %o5, align 4
  %r6 = load i32, ptr %z6, align 4
  %o6 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 6
  store i32 %r6, ptr addrspace(1) %o6, align 4
  %r7 = load i32, ptr %z7, align 4
  %o7 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 7
  store i32 %r7, ptr addrspace(1) %o7, align 4
  ret void
}

attributes #0 = { nounwind }
