; opt=3 before=apart
; Of arrays that lie apart, what all threads load from one address goes in front of one store, of
; whatever type. A table that is stored to as well stays, and so does what has no registers.
define ptx_kernel void @k(ptr addrspace(1) align 16 %0, ptr addrspace(1) align 16 %1, ptr addrspace(1) align 4 %2) #0 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i = mul nuw nsw i32 %t, 4
  %i64 = zext nneg i32 %i to i64
  %y = getelementptr inbounds float, ptr addrspace(1) %1, i64 %i64
  %a = load float, ptr addrspace(1) %0, align 4
  store float %a, ptr addrspace(1) %y, align 4
  %x1 = getelementptr inbounds i8, ptr addrspace(1) %0, i64 8
  %y1 = getelementptr inbounds i8, ptr addrspace(1) %y, i64 4
  %b = load <2 x float>, ptr addrspace(1) %x1, align 8
  %c = extractelement <2 x float> %b, i64 1
  store float %c, ptr addrspace(1) %y1, align 4
  %x2 = getelementptr inbounds i8, ptr addrspace(1) %0, i64 5
  %d = load i8, ptr addrspace(1) %x2, align 1
  %e = uitofp i8 %d to float
  %f = load float, ptr addrspace(1) %2, align 4
  %g = fadd float %e, %f
  %z = getelementptr inbounds float, ptr addrspace(1) %2, i64 %i64
  store float %g, ptr addrspace(1) %z, align 4
  %z1 = getelementptr inbounds i8, ptr addrspace(1) %2, i64 8
  %h = load float, ptr addrspace(1) %z1, align 4
  %x3 = getelementptr inbounds i8, ptr addrspace(1) %0, i64 16
  %v = load <4 x float>, ptr addrspace(1) %x3, align 16
  %x4 = getelementptr inbounds i8, ptr addrspace(1) %0, i64 32
  %w = load <4 x float>, ptr addrspace(1) %x4, align 16
  %x5 = getelementptr inbounds i8, ptr addrspace(1) %0, i64 48
  %u = load <4 x float>, ptr addrspace(1) %x5, align 16
  %vw = fadd <4 x float> %v, %w
  %vwu = fadd <4 x float> %vw, %u
  %k = extractelement <4 x float> %vwu, i64 2
  %l = fadd float %h, %k
  %y2 = getelementptr inbounds i8, ptr addrspace(1) %y, i64 8
  store float %l, ptr addrspace(1) %y2, align 4
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
attributes #0 = { nounwind }
