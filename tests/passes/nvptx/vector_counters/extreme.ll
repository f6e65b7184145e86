; opt=3
; The place of a maximum, in a loop that is unrolled four times: the counter, which all threads have
; alike, begins with the sign of the thread's place.
define ptx_kernel void @four(ptr addrspace(1) align 4 %x, i32 %n, ptr addrspace(1) align 4 %out) #0 {
entry:
  br label %loop

loop:                                             ; preds = %entry, %loop
  %p = phi i32 [ 1, %entry ], [ %p4, %loop ]
  %top = phi float [ 0.000000e+00, %entry ], [ %t4, %loop ]
  %who = phi i32 [ 0, %entry ], [ %w4, %loop ]
  %wide = sext i32 %p to i64
  %at = getelementptr inbounds float, ptr addrspace(1) %x, i64 %wide
  %v1 = load float, ptr addrspace(1) %at, align 4
  %c1 = fcmp ogt float %v1, %top
  %t1 = select i1 %c1, float %v1, float %top
  %w1 = select i1 %c1, i32 %p, i32 %who
  %p1 = add nuw nsw i32 %p, 1
  %at1 = getelementptr inbounds i8, ptr addrspace(1) %at, i64 4
  %v2 = load float, ptr addrspace(1) %at1, align 4
  %c2 = fcmp ogt float %v2, %t1
  %t2 = select i1 %c2, float %v2, float %t1
  %w2 = select i1 %c2, i32 %p1, i32 %w1
  %p2 = add nuw nsw i32 %p, 2
  %at2 = getelementptr inbounds i8, ptr addrspace(1) %at, i64 8
  %v3 = load float, ptr addrspace(1) %at2, align 4
  %c3 = fcmp ogt float %v3, %t2
  %t3 = select i1 %c3, float %v3, float %t2
  %w3 = select i1 %c3, i32 %p2, i32 %w2
  %p3 = add nuw nsw i32 %p, 3
  %at3 = getelementptr inbounds i8, ptr addrspace(1) %at, i64 12
  %v4 = load float, ptr addrspace(1) %at3, align 4
  %c4 = fcmp ogt float %v4, %t3
  %t4 = select i1 %c4, float %v4, float %t3
  %w4 = select i1 %c4, i32 %p3, i32 %w3
  %p4 = add nuw nsw i32 %p, 4
  %more = icmp slt i32 %p4, %n
  br i1 %more, label %loop, label %end

end:                                              ; preds = %loop
  store i32 %w4, ptr addrspace(1) %out, align 4
  ret void
}

attributes #0 = { nounwind }
