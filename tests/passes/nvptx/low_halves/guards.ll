; opt=3
; A position plus an offset or its negative: the low half is in range(n) or not. Not of a number that may be larger, of a bound that may be negative, or where the low half's own flags hold behind the sign only.
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, i32 range(i32 0, -2147483648) %n, i32 %any, i64 %number, ptr addrspace(1) align 8 %out) #0 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %place = zext nneg i32 %t to i64
  %d = load i32, ptr addrspace(1) %x, align 4
  %wide = sext i32 %d to i64
  %minus = sub nsw i64 0, %wide
  %turned = icmp eq i32 %t, 3
  %step = select i1 %turned, i64 %minus, i64 %wide
  %sum = add nsw i64 %step, %place
  %low = trunc i64 %sum to i32
  %negative = icmp slt i64 %sum, 0
  %behind = icmp ule i32 %n, %low
  %out.of = or i1 %negative, %behind
  br i1 %out.of, label %second, label %load

load:                                             ; preds = %entry
  %at = zext i32 %low to i64
  %p = getelementptr float, ptr addrspace(1) %x, i64 %at
  %v = load float, ptr addrspace(1) %p, align 4
  store float %v, ptr addrspace(1) %out, align 4
  br label %second

second:                                           ; preds = %load, %entry
  %sign = icmp sgt i64 %sum, -1
  %below = icmp ult i32 %low, %n
  %in = select i1 %sign, i1 %below, i1 false
  %below.any = icmp ult i32 %low, %any
  %in.any = and i1 %sign, %below.any
  %long = trunc i64 %number to i32
  %long.negative = icmp slt i64 %number, 0
  %long.behind = icmp uge i32 %long, %n
  %long.out = or i1 %long.negative, %long.behind
  %short = trunc nuw i64 %sum to i32
  %short.behind = icmp uge i32 %short, %n
  %short.out = select i1 %negative, i1 true, i1 %short.behind
  %a = zext i1 %in to i8
  %b = zext i1 %in.any to i8
  %c = zext i1 %long.out to i8
  %e = zext i1 %short.out to i8
  %ab = add i8 %a, %b
  %ce = xor i8 %c, %e
  %all = mul i8 %ab, %ce
  %last = getelementptr i8, ptr addrspace(1) %out, i64 8
  store i8 %all, ptr addrspace(1) %last, align 1
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

attributes #0 = { nounwind }
