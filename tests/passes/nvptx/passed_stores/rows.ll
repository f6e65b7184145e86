; opt=3
; The second and third load pass the stores in front of them; a float may be what was stored as an integer.
define ptx_kernel void @rows(ptr addrspace(1) align 4 %p, ptr addrspace(1) align 4 %moved, ptr addrspace(1) align 4 %out) #0 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %k = zext i32 %t to i64
  %a = getelementptr inbounds float, ptr addrspace(1) %p, i64 %k
  %va = load float, ptr addrspace(1) %a, align 4
  %m0 = getelementptr inbounds float, ptr addrspace(1) %moved, i64 %k
  %v0 = load float, ptr addrspace(1) %m0, align 4
  %s0 = fadd float %va, %v0
  %o0 = getelementptr inbounds float, ptr addrspace(1) %out, i64 %k
  store float %s0, ptr addrspace(1) %o0, align 4
  %m1 = getelementptr inbounds i8, ptr addrspace(1) %m0, i64 4
  %v1 = load float, ptr addrspace(1) %m1, align 4
  %s1 = fadd float %va, %v1
  %o1 = getelementptr inbounds i8, ptr addrspace(1) %o0, i64 4
  store float %s1, ptr addrspace(1) %o1, align 4
  %m2 = getelementptr inbounds i8, ptr addrspace(1) %m0, i64 8
  %v2 = load i32, ptr addrspace(1) %m2, align 4
  %s2 = add i32 %v2, 1
  %o2 = getelementptr inbounds i8, ptr addrspace(1) %o0, i64 8
  store i32 %s2, ptr addrspace(1) %o2, align 4
  ret void
}

; One row: its places are apart, and take no comparison.
define ptx_kernel void @one_row(ptr addrspace(1) align 8 %rows) #0 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %k = zext i32 %t to i64
  %p = getelementptr inbounds double, ptr addrspace(1) %rows, i64 %k
  %v0 = load double, ptr addrspace(1) %p, align 8
  %o = getelementptr inbounds i8, ptr addrspace(1) %p, i64 16
  store double %v0, ptr addrspace(1) %o, align 8
  %p1 = getelementptr inbounds i8, ptr addrspace(1) %p, i64 8
  %v1 = load double, ptr addrspace(1) %p1, align 8
  %o1 = getelementptr inbounds i8, ptr addrspace(1) %p, i64 24
  store double %v1, ptr addrspace(1) %o1, align 8
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

attributes #0 = { nounwind }
