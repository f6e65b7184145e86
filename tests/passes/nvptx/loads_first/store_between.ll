; opt=3
; What is behind a store or a barrier stays there, and so does what has no registers: 16 words of loads.
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)

define ptx_kernel void @k(ptr addrspace(1) align 8 %x, ptr addrspace(1) align 8 %out, double %d) #0 {
entry:
  %q = fdiv double %d, 3.000000e+00
  store double %q, ptr addrspace(1) %out, align 8
  %a = load double, ptr addrspace(1) %x, align 8
  %r = fdiv double %a, %d
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %p1 = getelementptr inbounds double, ptr addrspace(1) %x, i64 1
  %b = load double, ptr addrspace(1) %p1, align 8
  %s = fadd double %r, %b
  %o = getelementptr inbounds double, ptr addrspace(1) %out, i64 1
  store double %s, ptr addrspace(1) %o, align 8
  br label %more

more:
  %u = call double @llvm.sqrt.f64(double %s)
;times 9
  %p#a = getelementptr inbounds double, ptr addrspace(1) %x, i64 1#
;times 9
  %v# = load double, ptr addrspace(1) %p#a, align 8
  %w = fadd double %u, %v0
  %w1 = fadd double %w, %v7
  %w2 = fadd double %w1, %v8
  store double %w2, ptr addrspace(1) %x, align 8
  ret void
}

declare double @llvm.sqrt.f64(double)

attributes #0 = { nounwind }
