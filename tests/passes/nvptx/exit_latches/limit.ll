; opt=3 before=llvm_rotate
; most[i] and limit[i] do not change: a block of its own on the way back.
define ptx_kernel void @k(ptr addrspace(1) noalias %x, ptr addrspace(1) %most, ptr addrspace(1) %limit, i32 %n, ptr addrspace(1) %out) #0 {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %head

head:
  %k = phi i32 [ 0, %entry ], [ %k.next, %body ]
  %total = phi float [ 0.000000e+00, %entry ], [ %sum, %body ]
  %more = icmp slt i32 %k, %n
  br i1 %more, label %body, label %end

body:
  %k.next = add nsw i32 %k, 1
  %px = getelementptr inbounds float, ptr addrspace(1) %x, i32 %k
  %v = load float, ptr addrspace(1) %px, align 4
  %pm = getelementptr inbounds float, ptr addrspace(1) %most, i32 %i
  %m = load float, ptr addrspace(1) %pm, align 4
  %c = fcmp olt float %m, %v
  %least = select i1 %c, float %m, float %v
  %sum = fadd float %total, %least
  %pl = getelementptr inbounds float, ptr addrspace(1) %limit, i32 %i
  %l = load float, ptr addrspace(1) %pl, align 4
  %full = fcmp oge float %sum, %l
  br i1 %full, label %end, label %head

end:
  %r = phi float [ %total, %head ], [ %sum, %body ]
  %po = getelementptr inbounds float, ptr addrspace(1) %out, i32 %i
  store float %r, ptr addrspace(1) %po, align 4
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
attributes #0 = { nounwind }
