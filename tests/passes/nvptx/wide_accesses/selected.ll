; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, ptr addrspace(1) align 4 %y, ptr addrspace(1) align 4 %out, i32 %w) #0 {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %row = mul nsw i32 %t, %w
  %wide = sext i32 %row to i64
  %odd = trunc i32 %t to i1
  %a = select i1 %odd, ptr addrspace(1) %x, ptr addrspace(1) %y
  %p = getelementptr inbounds float, ptr addrspace(1) %a, i64 %wide
  %p1 = getelementptr inbounds i8, ptr addrspace(1) %p, i64 4
  %p2 = getelementptr inbounds i8, ptr addrspace(1) %p, i64 8
  %p3 = getelementptr inbounds i8, ptr addrspace(1) %p, i64 12
  %v = load float, ptr addrspace(1) %p, align 4
  %v1 = load float, ptr addrspace(1) %p1, align 4
  %v2 = load float, ptr addrspace(1) %p2, align 4
  %v3 = load float, ptr addrspace(1) %p3, align 4
  %s = fadd float %v, %v1
  %s2 = fadd float %s, %v2
  %s3 = fadd float %s2, %v3
  %t.wide = zext nneg i32 %t to i64
  %o = getelementptr inbounds float, ptr addrspace(1) %out, i64 %t.wide
  store float %s3, ptr addrspace(1) %o, align 4
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

attributes #0 = { nounwind }
