; opt=3
; Loads, and their addresses, in front of the first quotient; the one whose place depends on it stays.
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, ptr addrspace(1) align 4 %out, float %d, i32 %n) #0 {
entry:
  %a = load float, ptr addrspace(1) %x, align 4
  %q = fdiv float %a, %d
  %m = add nsw i32 %n, 1
  %i = sext i32 %m to i64
  %p = getelementptr inbounds float, ptr addrspace(1) %x, i64 %i
  %b = load float, ptr addrspace(1) %p, align 4
  %e = fsub float %b, %q
  %r = fdiv float %e, %d
  %p2 = getelementptr inbounds float, ptr addrspace(1) %p, i64 1
  %c = load float, ptr addrspace(1) %p2, align 4
  %k = fptosi float %r to i32
  %j = sext i32 %k to i64
  %p3 = getelementptr inbounds float, ptr addrspace(1) %x, i64 %j
  %g = load float, ptr addrspace(1) %p3, align 4
  %s = fadd float %c, %g
  %t = fadd float %s, %r
  store float %t, ptr addrspace(1) %out, align 4
  ret void
}

attributes #0 = { nounwind }
