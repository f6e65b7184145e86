; opt=3
; Loads behind stores that are made behind a condition, and behind a shuffle: where the condition holds, what was stored is read.
define ptx_kernel void @k(ptr addrspace(1) align 8 %p, ptr addrspace(1) align 8 %out, i32 %n) #0 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %k = zext i32 %t to i64
  %p0 = getelementptr inbounds i32, ptr addrspace(1) %p, i64 %k
  %v0 = load i32, ptr addrspace(1) %p0, align 4
  %s0 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %v0, i32 1, i32 31)
  %first = icmp ult i32 %t, %n
  br i1 %first, label %store0, label %b1

store0:                                           ; preds = %entry
  %o0 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 %k
  store i32 %s0, ptr addrspace(1) %o0, align 4
  br label %b1

b1:                                               ; preds = %store0, %entry
  %t1 = add i32 %t, 32
  %k1 = zext i32 %t1 to i64
  %p1 = getelementptr inbounds i32, ptr addrspace(1) %p, i64 %k1
  %v1 = load i32, ptr addrspace(1) %p1, align 4
  %s1 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %v1, i32 1, i32 31)
  %last = icmp uge i32 %t1, %n
  br i1 %last, label %b2, label %store1

store1:                                           ; preds = %b1
  %o1 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 %k1
  store i32 %s1, ptr addrspace(1) %o1, align 4
  br label %b2

b2:                                               ; preds = %store1, %b1
  %p2 = getelementptr inbounds i32, ptr addrspace(1) %p, i64 7
  %q2 = getelementptr inbounds i32, ptr addrspace(1) %p2, i64 %k
  %v2 = load i32, ptr addrspace(1) %q2, align 4
  %o2 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 %k
  store i32 %v2, ptr addrspace(1) %o2, align 4
  ret void
}

; Not behind a barrier on the side. What is stored may be loaded there.
define ptx_kernel void @barrier(ptr addrspace(1) align 8 %p, ptr addrspace(1) align 8 %out, i32 %n) #0 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %k = zext i32 %t to i64
  %p0 = getelementptr inbounds i32, ptr addrspace(1) %p, i64 %k
  %v0 = load i32, ptr addrspace(1) %p0, align 4
  %o0 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 %k
  %first = icmp ult i32 %n, 7
  br i1 %first, label %store0, label %b1

store0:                                           ; preds = %entry
  store i32 %v0, ptr addrspace(1) %o0, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %b1

b1:                                               ; preds = %store0, %entry
  %p1 = getelementptr inbounds i32, ptr addrspace(1) %p0, i64 32
  %v1 = load i32, ptr addrspace(1) %p1, align 4
  %second = icmp ult i32 %n, 5
  br i1 %second, label %store1, label %b2

store1:                                           ; preds = %b1
  %q1 = getelementptr inbounds i32, ptr addrspace(1) %p0, i64 64
  %w1 = load i32, ptr addrspace(1) %q1, align 4
  store i32 %w1, ptr addrspace(1) %o0, align 4
  br label %b2

b2:                                               ; preds = %store1, %b1
  %p2 = getelementptr inbounds i32, ptr addrspace(1) %p0, i64 96
  %v2 = load i32, ptr addrspace(1) %p2, align 4
  %s2 = add i32 %v1, %v2
  store i32 %s2, ptr addrspace(1) %o0, align 4
  ret void
}

; Elements of a thread, each behind its condition, which the load takes along; not one that was loaded behind the store.
define ptx_kernel void @several(ptr addrspace(1) align 8 %p, ptr addrspace(1) align 8 %out, i32 %n) #0 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %first = icmp ult i32 %t, %n
  br i1 %first, label %store0, label %b1

store0:                                           ; preds = %entry
  %k = zext i32 %t to i64
  %p0 = getelementptr inbounds float, ptr addrspace(1) %p, i64 %k
  %v0 = load float, ptr addrspace(1) %p0, align 4
  %f0 = fadd float %v0, %v0
  %o0 = getelementptr inbounds float, ptr addrspace(1) %out, i64 %k
  store float %f0, ptr addrspace(1) %o0, align 4
  br label %b1

b1:                                               ; preds = %store0, %entry
  %t1 = add i32 %t, 32
  %second = icmp ult i32 %t1, %n
  br i1 %second, label %store1, label %b2

store1:                                           ; preds = %b1
  %k1 = zext i32 %t1 to i64
  %p1 = getelementptr inbounds float, ptr addrspace(1) %p, i64 %k1
  %v1 = load float, ptr addrspace(1) %p1, align 4
  %f1 = fadd float %v1, %v1
  %o1 = getelementptr inbounds float, ptr addrspace(1) %out, i64 %k1
  store float %f1, ptr addrspace(1) %o1, align 4
  br label %b2

b2:                                               ; preds = %store1, %b1
  %more = load i32, ptr addrspace(1) %p, align 4
  %third = icmp ult i32 %more, %n
  br i1 %third, label %store2, label %end

store2:                                           ; preds = %b2
  %k2 = zext i32 %t to i64
  %p2 = getelementptr inbounds float, ptr addrspace(1) %p, i64 %k2
  %v2 = load float, ptr addrspace(1) %p2, align 4
  %o2 = getelementptr inbounds float, ptr addrspace(1) %out, i64 %k2
  store float %v2, ptr addrspace(1) %o2, align 4
  br label %end

end:                                              ; preds = %store2, %b2
  ret void
}

declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)

declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32)

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

attributes #0 = { nounwind }
