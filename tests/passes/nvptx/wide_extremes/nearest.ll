; opt=3
; The nearest of four, and how far it is: the comparison is there; further extremes have none of the same numbers in front.
define ptx_kernel void @k(ptr addrspace(1) align 8 %x, i64 %best, i32 %label, i64 %other) {
entry:
  %d = load i64, ptr addrspace(1) %x, align 8
  %less = icmp slt i64 %d, %best
  %now = select i1 %less, i32 3, i32 %label
  %least = call i64 @llvm.smin.i64(i64 %best, i64 %d)
  %at = getelementptr inbounds i8, ptr addrspace(1) %x, i64 8
  store i64 %least, ptr addrspace(1) %at, align 8
  %more = icmp sge i64 %other, %d
  %then = select i1 %more, i32 4, i32 %now
  %most = call i64 @llvm.smax.i64(i64 %d, i64 %other)
  %to = getelementptr inbounds i8, ptr addrspace(1) %x, i64 16
  store i64 %most, ptr addrspace(1) %to, align 8
  %last = getelementptr inbounds i8, ptr addrspace(1) %x, i64 24
  store i32 %then, ptr addrspace(1) %last, align 4
  ret void
}

declare i64 @llvm.smin.i64(i64, i64)

declare i64 @llvm.smax.i64(i64, i64)
