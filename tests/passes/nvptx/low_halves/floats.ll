; opt=3
; Of nan the low half is 0 without a selection; of a number that is 1 for nan, and of an upper half,
; the selection stays.
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, ptr addrspace(1) align 4 %out, i64 %mask) #0 {
entry:
  %f = load float, ptr addrspace(1) %x, align 4
  %i = call i64 @llvm.nvvm.f2ll.rz(float %f)
  %nan = fcmp uno float %f, 0.000000e+00
  %number = select i1 %nan, i64 0, i64 %i
  %next = add i64 %number, 1
  %masked = and i64 %next, %mask
  %low = trunc i64 %masked to i32
  store i32 %low, ptr addrspace(1) %out, align 4
  %other = select i1 %nan, i64 1, i64 %i
  %other.low = trunc i64 %other to i32
  %p.other = getelementptr inbounds i8, ptr addrspace(1) %out, i64 4
  store i32 %other.low, ptr addrspace(1) %p.other, align 4
  %g = load float, ptr addrspace(1) %out, align 4
  %j = call i64 @llvm.nvvm.f2ll.rz(float %g)
  %nan.full = fcmp uno float %g, 0.000000e+00
  %full = select i1 %nan.full, i64 0, i64 %j
  %p.full = getelementptr inbounds i8, ptr addrspace(1) %out, i64 8
  store i64 %full, ptr addrspace(1) %p.full, align 4
  ret void
}

declare i64 @llvm.nvvm.f2ll.rz(float)

attributes #0 = { nounwind }
