; opt=3
; A place that is not negative, plus any number of 32 bits, compared with an extent and its last place; in either order.
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, i32 range(i32 0, -2147483648) %n, i32 %d, i16 %s) #0 {
entry:
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %place = zext nneg i32 %x to i64
  %step = sext i32 %d to i64
  %sum = add nsw i64 %step, %place
  %extent = zext nneg i32 %n to i64
  %less = icmp slt i64 %sum, %extent
  %less.of = select i1 %less, i32 %d, i32 %n
  %last = add nsw i32 %n, -1
  %wide = sext i32 %last to i64
  %more = icmp sge i64 %wide, %sum
  %more.of = select i1 %more, i32 %less.of, i32 7
  %below = icmp slt i64 %sum, 0
  %below.of = select i1 %below, i32 %more.of, i32 8
  store i32 %below.of, ptr addrspace(1) %0, align 4
  ret void
}

declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x()
attributes #0 = { nounwind }
