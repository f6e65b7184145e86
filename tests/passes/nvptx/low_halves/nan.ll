; opt=3
; What is made of the low half by masks and products by constants is 0 for nan by itself; a sum, the
; sign, and what is made of another float are not.
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, ptr addrspace(1) align 4 %out) #0 {
entry:
  %f = load float, ptr addrspace(1) %x, align 4
  %i = call i64 @llvm.nvvm.f2ll.rz(float %f)
  %nan = fcmp uno float %f, 0.000000e+00
  %low = trunc i64 %i to i32
  %hash = mul i32 %low, -1640531535
  %number = select i1 %nan, i32 0, i32 %hash
  store i32 %number, ptr addrspace(1) %out, align 4
  %byte = and i64 %i, 255
  %times = shl nuw nsw i64 %byte, 2
  %place = select i1 %nan, i64 0, i64 %times
  %p.place = getelementptr inbounds i8, ptr addrspace(1) %out, i64 8
  store i64 %place, ptr addrspace(1) %p.place, align 4
  %next = add i32 %low, 1
  %kept = select i1 %nan, i32 0, i32 %next
  %p.kept = getelementptr inbounds i8, ptr addrspace(1) %out, i64 16
  store i32 %kept, ptr addrspace(1) %p.kept, align 4
  %even = and i64 %i, -2
  %signed = select i1 %nan, i64 0, i64 %even
  %p.signed = getelementptr inbounds i8, ptr addrspace(1) %out, i64 24
  store i64 %signed, ptr addrspace(1) %p.signed, align 4
  %g = load float, ptr addrspace(1) %out, align 4
  %other = fcmp uno float %f, %g
  %either = select i1 %other, i32 0, i32 %hash
  %p.either = getelementptr inbounds i8, ptr addrspace(1) %out, i64 32
  store i32 %either, ptr addrspace(1) %p.either, align 4
  ret void
}

declare i64 @llvm.nvvm.f2ll.rz(float)

attributes #0 = { nounwind }
