; opt=1
; By halves, as libdevice asks: both equal, one unequal, in either order, as a selection; not of two numbers, nor of another constant.
define ptx_kernel void @k(double %x, double %y, ptr addrspace(1) align 1 %out) #0 {
entry:
  %lo = tail call i32 @llvm.nvvm.d2i.lo(double %x)
  %hi = tail call i32 @llvm.nvvm.d2i.hi(double %x)
  %size = and i32 %hi, 2147483647
  %top = icmp eq i32 %size, 2146435072
  %rest = icmp eq i32 %lo, 0
  %is = select i1 %top, i1 %rest, i1 false
  store i1 %is, ptr addrspace(1) %out, align 1
  %no.top = icmp ne i32 %size, 2146435072
  %no.rest = icmp ne i32 %lo, 0
  %not = or i1 %no.rest, %no.top
  %second = getelementptr inbounds i8, ptr addrspace(1) %out, i64 1
  store i1 %not, ptr addrspace(1) %second, align 1
  %other = tail call i32 @llvm.nvvm.d2i.lo(double %y)
  %zero = icmp eq i32 %other, 0
  %mixed = and i1 %top, %zero
  %third = getelementptr inbounds i8, ptr addrspace(1) %out, i64 2
  store i1 %mixed, ptr addrspace(1) %third, align 1
  %one = icmp eq i32 %lo, 1
  %nan = and i1 %top, %one
  %fourth = getelementptr inbounds i8, ptr addrspace(1) %out, i64 3
  store i1 %nan, ptr addrspace(1) %fourth, align 1
  ret void
}

declare i32 @llvm.nvvm.d2i.lo(double) #1

declare i32 @llvm.nvvm.d2i.hi(double) #1

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
