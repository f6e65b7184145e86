; opt=3
; Comparisons of other numbers, without a sign, behind the extreme, and in another block.
define ptx_kernel void @k(ptr addrspace(1) align 8 %x, i64 %best, i64 %other) {
entry:
  %d = load i64, ptr addrspace(1) %x, align 8
  %first = icmp slt i64 %other, %best
  %below = icmp ult i64 %d, %best
  %least = call i64 @llvm.smin.i64(i64 %best, i64 %d)
  %behind = icmp slt i64 %d, %best
  %a = select i1 %first, i64 1, i64 2
  %b = select i1 %below, i64 %a, i64 3
  %c = select i1 %behind, i64 %b, i64 4
  %sum = add i64 %c, %least
  store i64 %sum, ptr addrspace(1) %x, align 8
  br i1 %behind, label %more, label %end

more:                                             ; preds = %entry
  %most = call i64 @llvm.smax.i64(i64 %best, i64 %d)
  store i64 %most, ptr addrspace(1) %x, align 8
  br label %end

end:                                              ; preds = %more, %entry
  ret void
}

declare i64 @llvm.smin.i64(i64, i64)

declare i64 @llvm.smax.i64(i64, i64)
