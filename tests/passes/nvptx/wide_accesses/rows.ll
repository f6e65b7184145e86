; opt=3
; A row of four and a part of one behind a quotient: loads of 16 bytes in front of it, where
; addresses are such multiples; of three stores two.
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

define ptx_kernel void @k(ptr addrspace(1) align 4 %x, ptr addrspace(1) align 8 %out, i32 %w) #0 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %r = mul nsw i32 %t, %w
  %i = sext i32 %r to i64
  %p0 = getelementptr inbounds float, ptr addrspace(1) %x, i64 %i
  %a = load float, ptr addrspace(1) %p0, align 4
  %p1 = getelementptr inbounds i8, ptr addrspace(1) %p0, i64 4
  %b = load float, ptr addrspace(1) %p1, align 4
  %q = fdiv float %a, %b
  %p2 = getelementptr inbounds i8, ptr addrspace(1) %p0, i64 8
  %c = load float, ptr addrspace(1) %p2, align 4
  %n = add nsw i32 %r, 3
  %j = sext i32 %n to i64
  %p3 = getelementptr inbounds float, ptr addrspace(1) %x, i64 %j
  %d = load float, ptr addrspace(1) %p3, align 4
  %e = fadd float %q, %c
  %s = fadd float %e, %d
  %v = fpext float %s to double
  %m = shl nsw i64 %i, 2
  %o = getelementptr double, ptr addrspace(1) %out, i64 %m
  %o1 = getelementptr i8, ptr addrspace(1) %o, i64 8
  store double %v, ptr addrspace(1) %o1, align 8
  %o3 = getelementptr i8, ptr addrspace(1) %o, i64 24
  store double 1.000000e+00, ptr addrspace(1) %o3, align 8
  %o2 = getelementptr i8, ptr addrspace(1) %o, i64 16
  store double 2.000000e+00, ptr addrspace(1) %o2, align 8
  store double 3.000000e+00, ptr addrspace(1) %o, align 8
  ret void
}

attributes #0 = { nounwind }
