; opt=3
; Bytes from a counter that goes by four on are accessed together, in an array that is long or a multiple of 16 bytes; words are not, nor what is in a short array.
define ptx_kernel void @k(i32 %n, i32 %m, ptr addrspace(1) align 4 %out) #0 {
entry:
  %a = alloca [361 x i8], align 1
  %s = alloca [9 x i8], align 1
  %w = alloca [64 x i8], align 4
  br label %loop

loop:
  %k = phi i32 [ 0, %entry ], [ %k.next, %loop ]
  %j = phi i32 [ 2, %entry ], [ %j.next, %loop ]
  %wide = sext i32 %k to i64
  %p0 = getelementptr inbounds i8, ptr %a, i64 %wide
  store i8 0, ptr %p0, align 1
  %p1 = getelementptr i8, ptr %p0, i64 1
  store i8 0, ptr %p1, align 1
  %p2 = getelementptr i8, ptr %p0, i64 2
  store i8 0, ptr %p2, align 1
  %p3 = getelementptr i8, ptr %p0, i64 3
  store i8 0, ptr %p3, align 1
  %s0 = getelementptr inbounds i8, ptr %s, i64 %wide
  store i8 1, ptr %s0, align 1
  %s1 = getelementptr i8, ptr %s0, i64 1
  store i8 1, ptr %s1, align 1
  %wide.j = sext i32 %j to i64
  %w0 = getelementptr inbounds i32, ptr %w, i64 %wide.j
  store i32 %m, ptr %w0, align 4
  %w1 = getelementptr i8, ptr %w0, i64 4
  store i32 %m, ptr %w1, align 4
  %wide.m = sext i32 %m to i64
  %w2 = getelementptr inbounds i32, ptr %w, i64 %wide.m
  store i32 %k, ptr %w2, align 4
  %w3 = getelementptr i8, ptr %w2, i64 4
  store i32 %k, ptr %w3, align 4
  %k.next = add nsw i32 %k, 4
  %j.next = add nsw i32 %j, 2
  %more = icmp slt i32 %k.next, %n
  br i1 %more, label %loop, label %end

end:
  %wide.n = sext i32 %n to i64
  %q = getelementptr inbounds i32, ptr %w, i64 %wide.n
  %v = load i32, ptr %q, align 4
  %qa = getelementptr inbounds i8, ptr %a, i64 %wide.n
  %va = load i8, ptr %qa, align 1
  %qs = getelementptr inbounds i8, ptr %s, i64 %wide.n
  %vs = load i8, ptr %qs, align 1
  store i32 %v, ptr addrspace(1) %out, align 4
  store i8 %va, ptr addrspace(1) %out, align 4
  store i8 %vs, ptr addrspace(1) %out, align 4
  ret void
}
attributes #0 = { nounwind }
