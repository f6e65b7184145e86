; opt=3
; Two numbers of any sign; a comparison without a sign; a number of 64 bits; a constant, where the sum is stored, too.
define ptx_kernel void @k(ptr addrspace(1) align 8 %0, i32 range(i32 0, -2147483648) %n, i32 %d, i32 %e, i64 %long) #0 {
entry:
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %place = zext nneg i32 %x to i64
  %first = sext i32 %d to i64
  %second = sext i32 %e to i64
  %extent = zext nneg i32 %n to i64
  %sum = add nsw i64 %first, %second
  %a = icmp slt i64 %sum, %extent
  %other = add nsw i64 %first, %place
  %b = icmp ult i64 %other, %extent
  %c = icmp slt i64 %other, %long
  %e0 = icmp slt i64 %other, 5
  %ab = xor i1 %a, %b
  %abc = xor i1 %ab, %c
  %all = xor i1 %abc, %e0
  %v = select i1 %all, i64 %other, i64 0
  store i64 %v, ptr addrspace(1) %0, align 8
  ret void
}

declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x()
attributes #0 = { nounwind }
