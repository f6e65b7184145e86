; opt=3 before=apart
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, ptr addrspace(1) align 4 %1) #0 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i = mul nuw nsw i32 %t, 3
  %i64 = zext nneg i32 %i to i64
  %x = getelementptr inbounds float, ptr addrspace(1) %0, i64 %i64
  %y = getelementptr inbounds float, ptr addrspace(1) %1, i64 %i64
  %a = load float, ptr addrspace(1) %x, align 4
  %b = fadd float %a, 1.0
  store float %b, ptr addrspace(1) %y, align 4
  %x1 = getelementptr inbounds i8, ptr addrspace(1) %x, i64 4
  %y1 = getelementptr inbounds i8, ptr addrspace(1) %y, i64 4
  %c = load float, ptr addrspace(1) %x1, align 4
  %d = fadd float %c, 2.0
  store float %d, ptr addrspace(1) %y1, align 4
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
attributes #0 = { nounwind }
