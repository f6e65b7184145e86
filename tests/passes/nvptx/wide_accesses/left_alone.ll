; opt=3
; What neighbouring threads have side by side, rows of three, loads with a store between them,
; stores between which another array is written, and loops.
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

define ptx_kernel void @side_by_side(ptr addrspace(1) align 4 %x, ptr addrspace(1) align 4 %out, i32 %w) #0 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %r = add nsw i32 %t, %w
  %i = sext i32 %r to i64
  %p0 = getelementptr inbounds float, ptr addrspace(1) %x, i64 %i
  %a = load float, ptr addrspace(1) %p0, align 4
  %p1 = getelementptr inbounds i8, ptr addrspace(1) %p0, i64 4
  %b = load float, ptr addrspace(1) %p1, align 4
  %p2 = getelementptr inbounds i8, ptr addrspace(1) %p0, i64 8
  %c = load float, ptr addrspace(1) %p2, align 4
  %p3 = getelementptr inbounds i8, ptr addrspace(1) %p0, i64 12
  %d = load float, ptr addrspace(1) %p3, align 4
  %e = fadd float %a, %b
  %f = fadd float %c, %d
  %s = fadd float %e, %f
  %o = getelementptr inbounds float, ptr addrspace(1) %out, i64 %i
  store float %s, ptr addrspace(1) %o, align 4
  ret void
}

define ptx_kernel void @three(ptr addrspace(1) align 4 %x, ptr addrspace(1) align 4 %out, i32 %w) #0 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %r = mul nsw i32 %t, %w
  %i = sext i32 %r to i64
  %p0 = getelementptr inbounds float, ptr addrspace(1) %x, i64 %i
  %a = load float, ptr addrspace(1) %p0, align 4
  %p1 = getelementptr inbounds i8, ptr addrspace(1) %p0, i64 4
  %b = load float, ptr addrspace(1) %p1, align 4
  %p2 = getelementptr inbounds i8, ptr addrspace(1) %p0, i64 8
  %c = load float, ptr addrspace(1) %p2, align 4
  %e = fadd float %a, %b
  %s = fadd float %e, %c
  %o = getelementptr inbounds float, ptr addrspace(1) %out, i64 %i
  store float %s, ptr addrspace(1) %o, align 4
  ret void
}

define ptx_kernel void @written_between(ptr addrspace(1) align 4 %x, ptr addrspace(1) align 4 %out, i32 %w) #0 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %r = mul nsw i32 %t, %w
  %i = sext i32 %r to i64
  %p0 = getelementptr inbounds float, ptr addrspace(1) %x, i64 %i
  %o0 = getelementptr inbounds float, ptr addrspace(1) %out, i64 %i
  %a = load float, ptr addrspace(1) %p0, align 4
  %p1 = getelementptr inbounds i8, ptr addrspace(1) %p0, i64 4
  %b = load float, ptr addrspace(1) %p1, align 4
  store float %b, ptr addrspace(1) %o0, align 4
  %o1 = getelementptr inbounds i8, ptr addrspace(1) %o0, i64 4
  store float %a, ptr addrspace(1) %o1, align 4
  %p2 = getelementptr inbounds i8, ptr addrspace(1) %p0, i64 8
  %c = load float, ptr addrspace(1) %p2, align 4
  %p3 = getelementptr inbounds i8, ptr addrspace(1) %p0, i64 12
  %d = load float, ptr addrspace(1) %p3, align 4
  %o2 = getelementptr inbounds i8, ptr addrspace(1) %o0, i64 8
  store float %d, ptr addrspace(1) %o2, align 4
  store float %c, ptr addrspace(1) %p0, align 4
  %o3 = getelementptr inbounds i8, ptr addrspace(1) %o0, i64 12
  store float %c, ptr addrspace(1) %o3, align 4
  ret void
}

attributes #0 = { nounwind }
