; opt=3 arch=sm_90
; The index counts to a constant: ptxas may unroll the loop, and have registers for the array.
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, i32 %n) #0 {
entry:
  %a = alloca [16 x i8], align 4, !pyptx.place !0
  br label %loop

loop:                                             ; preds = %loop, %entry
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %w = sext i32 %i to i64
  %p = getelementptr inbounds i32, ptr addrspace(1) %x, i64 %w
  %v = load i32, ptr addrspace(1) %p, align 4
  %j = sext i32 %i to i64
  %e = getelementptr inbounds i32, ptr %a, i64 %j
  store i32 %v, ptr %e, align 4
  %next = add nsw i32 %i, 1
  %more = icmp slt i32 %next, 4
  br i1 %more, label %loop, label %end

end:                                              ; preds = %loop
  %r = load i32, ptr %a, align 4
  store i32 %r, ptr addrspace(1) %x, align 4
  ret void
}

attributes #0 = { nounwind }

!0 = !{!"// local.array[16] at 3:8-40 in k of k.py"}
