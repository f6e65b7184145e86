; opt=3
; From one address in all threads; behind a store that waits for nothing; behind a barrier, an atomic; of another size; not at a
; multiple of its size; at an address that was loaded behind the store; in a loop.
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)

define ptx_kernel void @k(ptr addrspace(1) align 8 %p, ptr addrspace(1) align 8 %out, float %f) #0 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %k = zext i32 %t to i64
  store float %f, ptr addrspace(1) %out, align 4
  %p0 = getelementptr inbounds float, ptr addrspace(1) %p, i64 %k
  %v0 = load float, ptr addrspace(1) %p0, align 4
  %o1 = getelementptr inbounds float, ptr addrspace(1) %out, i64 %k
  store float %v0, ptr addrspace(1) %o1, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %p1 = getelementptr inbounds float, ptr addrspace(1) %p0, i64 1
  %v1 = load float, ptr addrspace(1) %p1, align 4
  store float %v1, ptr addrspace(1) %o1, align 4
  %p2 = getelementptr inbounds double, ptr addrspace(1) %p0, i64 1
  %v2 = load double, ptr addrspace(1) %p2, align 8
  %t2 = fptrunc double %v2 to float
  store float %t2, ptr addrspace(1) %o1, align 4
  %old = atomicrmw fadd ptr addrspace(1) %out, float %t2 monotonic, align 4
  %p3 = getelementptr inbounds float, ptr addrspace(1) %p0, i64 4
  %v3 = load float, ptr addrspace(1) %p3, align 4
  %s3 = fadd float %v3, %old
  store float %s3, ptr addrspace(1) %o1, align 4
  %p4 = getelementptr inbounds i8, ptr addrspace(1) %p, i64 %k
  %v4 = load i32, ptr addrspace(1) %p4, align 1
  store i32 %v4, ptr addrspace(1) %o1, align 4
  %w = sext i32 %v4 to i64
  %p5 = getelementptr inbounds float, ptr addrspace(1) %p, i64 %w
  %v5 = load float, ptr addrspace(1) %p5, align 4
  %o2 = getelementptr inbounds i8, ptr addrspace(1) %o1, i64 4
  store float %v5, ptr addrspace(1) %o2, align 4
  %p6 = getelementptr inbounds float, ptr addrspace(1) %p, i64 7
  %v6 = load float, ptr addrspace(1) %p6, align 4
  store float %v6, ptr addrspace(1) %o1, align 4
  ret void
}

; Behind more stores than a load may pass, without a load between them: they stay side by side.
define ptx_kernel void @record(ptr addrspace(1) align 8 %p, ptr addrspace(1) align 8 %out) #0 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %k = zext i32 %t to i64
  %a = getelementptr inbounds float, ptr addrspace(1) %p, i64 %k
  %v = load float, ptr addrspace(1) %a, align 4
  %o = getelementptr inbounds float, ptr addrspace(1) %out, i64 %k
;times 7
  %o# = getelementptr inbounds i8, ptr addrspace(1) %o, i64 #
;times 7
  store float %v, ptr addrspace(1) %o#, align 4
  %b = getelementptr inbounds i8, ptr addrspace(1) %a, i64 4
  %u = load float, ptr addrspace(1) %b, align 4
  %e = getelementptr inbounds i8, ptr addrspace(1) %o, i64 64
  store float %u, ptr addrspace(1) %e, align 4
  ret void
}

define ptx_kernel void @loop(ptr addrspace(1) align 8 %p, ptr addrspace(1) align 8 %out, i64 %n) #0 {
entry:
  br label %body

body:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %a = getelementptr inbounds float, ptr addrspace(1) %p, i64 %i
  %v = load float, ptr addrspace(1) %a, align 4
  %o = getelementptr inbounds float, ptr addrspace(1) %out, i64 %i
  store float %v, ptr addrspace(1) %o, align 4
  %b = getelementptr inbounds i8, ptr addrspace(1) %a, i64 400
  %u = load float, ptr addrspace(1) %b, align 4
  store float %u, ptr addrspace(1) %o, align 4
  %next = add nuw nsw i64 %i, 1
  %more = icmp ne i64 %next, %n
  br i1 %more, label %body, label %end

end:
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

attributes #0 = { nounwind }
