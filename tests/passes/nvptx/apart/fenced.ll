; opt=3
define internal float @weight(ptr addrspace(1) %rows, i64 %at) {
  %p = getelementptr inbounds float, ptr addrspace(1) %rows, i64 %at
  %x = load float, ptr addrspace(1) %p, align 4
  ret float %x
}
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, ptr addrspace(1) align 4 %1, ptr addrspace(1) align 4 %2, i64 %3, ptr addrspace(1) align 4 %4) #0 {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %from = getelementptr inbounds i64, ptr addrspace(1) %0, i64 %i
  %at = load i64, ptr addrspace(1) %from, align 8
  %w = call float @weight(ptr addrspace(1) %1, i64 %at)
  %to = getelementptr inbounds float, ptr addrspace(1) %2, i64 %i
  store float %w, ptr addrspace(1) %to, align 4
  %old = atomicrmw fadd ptr addrspace(1) %4, float %w syncscope("device") monotonic, align 4
  fence syncscope("device") seq_cst
  %next = add nsw i64 %i, 1
  %more = icmp slt i64 %next, %3
  br i1 %more, label %loop, label %end
end:
  ret void
}
attributes #0 = { nounwind }
