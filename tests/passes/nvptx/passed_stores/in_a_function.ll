; opt=3 before=apart
; What a function is given may be one array, whatever launches find out: it is asked.
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, ptr addrspace(1) align 4 %1) #0 {
entry:
  %a = load float, ptr addrspace(1) %0, align 4
  store float %a, ptr addrspace(1) %1, align 4
  %p = getelementptr inbounds i8, ptr addrspace(1) %0, i64 4
  %b = load float, ptr addrspace(1) %p, align 4
  %q = getelementptr inbounds i8, ptr addrspace(1) %1, i64 4
  store float %b, ptr addrspace(1) %q, align 4
  call void @f(ptr addrspace(1) %0, ptr addrspace(1) %0)
  ret void
}

define internal void @f(ptr addrspace(1) align 4 %0, ptr addrspace(1) align 4 %1) #1 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i64 = zext nneg i32 %t to i64
  %x = getelementptr inbounds float, ptr addrspace(1) %0, i64 %i64
  %y = getelementptr inbounds float, ptr addrspace(1) %1, i64 %i64
  %a = load float, ptr addrspace(1) %x, align 4
  store float %a, ptr addrspace(1) %y, align 4
  %x1 = getelementptr inbounds i8, ptr addrspace(1) %x, i64 4
  %y1 = getelementptr inbounds i8, ptr addrspace(1) %y, i64 4
  %b = load float, ptr addrspace(1) %x1, align 4
  store float %b, ptr addrspace(1) %y1, align 4
  %c = load float, ptr addrspace(1) %0, align 4
  %y2 = getelementptr inbounds i8, ptr addrspace(1) %y, i64 8
  store float %c, ptr addrspace(1) %y2, align 4
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
attributes #0 = { nounwind }
attributes #1 = { nounwind noinline }
