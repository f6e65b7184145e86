; opt=3
; A record of seven words in two rows: by way of shared memory, if the rows and the lanes' records follow each other.
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

define ptx_kernel void @k(ptr addrspace(1) align 4 %out, i32 %w, i32 %v) #0 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %r = mul nsw i32 %t, %w
  %i = sext i32 %r to i64
  %p = getelementptr inbounds i32, ptr addrspace(1) %out, i64 %i
  %p1 = getelementptr inbounds i8, ptr addrspace(1) %p, i64 4
  store i32 1, ptr addrspace(1) %p1, align 4
  store i32 %v, ptr addrspace(1) %p, align 4
  %p2 = getelementptr inbounds i8, ptr addrspace(1) %p, i64 8
  store i32 2, ptr addrspace(1) %p2, align 4
  %s = add nsw i32 %r, %v
  %j = sext i32 %s to i64
  %q = getelementptr inbounds i32, ptr addrspace(1) %out, i64 %j
  store i32 3, ptr addrspace(1) %q, align 4
  %q1 = getelementptr inbounds i8, ptr addrspace(1) %q, i64 4
  store i32 4, ptr addrspace(1) %q1, align 4
  %q2 = getelementptr inbounds i8, ptr addrspace(1) %q, i64 8
  store i32 5, ptr addrspace(1) %q2, align 4
  %q3 = getelementptr inbounds i8, ptr addrspace(1) %q, i64 -4
  store i32 6, ptr addrspace(1) %q3, align 4
  ret void
}

attributes #0 = { nounwind }
