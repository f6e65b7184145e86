; opt=3 arch=sm_90
; %a goes to shared memory, 5 words of a thread; %b, which is not accessed in the loop, stays local in both versions.
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, i32 %n) #0 {
entry:
  %a = alloca [16 x i8], align 4, !pyptx.place !0
  %b = alloca [8 x i8], align 4
  %q = getelementptr inbounds i8, ptr %b, i64 4
  store i32 %n, ptr %q, align 4
  br label %loop

loop:                                             ; preds = %loop, %entry
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %w = sext i32 %i to i64
  %p = getelementptr inbounds i32, ptr addrspace(1) %x, i64 %w
  %v = load i32, ptr addrspace(1) %p, align 4
  %j = sext i32 %v to i64
  %e = getelementptr inbounds i32, ptr %a, i64 %j
  store i32 %i, ptr %e, align 4
  %next = add nsw i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %end

end:                                              ; preds = %loop
  %r = load i32, ptr %a, align 4
  %s = load i32, ptr %q, align 4
  %t = add i32 %r, %s
  store i32 %t, ptr addrspace(1) %x, align 4
  ret void
}

attributes #0 = { nounwind }

!0 = !{!"// local.array[16] at 3:8-40 in k of k.py"}
