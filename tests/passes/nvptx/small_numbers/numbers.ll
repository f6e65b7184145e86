; opt=3
; A number that was read from digits, or -1: phis, comparisons, divisions that round down and remainders in 32 bits; not of a phi that is an index alone, nor of a number that 32 bits do not hold.
define ptx_kernel void @k(ptr addrspace(1) align 1 %text, ptr addrspace(1) align 4 %table, i32 %m, ptr addrspace(1) align 8 %out) #0 {
entry:
  %c = load i8, ptr addrspace(1) %text, align 1
  %none = icmp ugt i8 %c, 9
  br i1 %none, label %join, label %digit

digit:                                            ; preds = %entry
  %p = getelementptr i8, ptr addrspace(1) %text, i64 1
  %d = load i8, ptr addrspace(1) %p, align 1
  %low = and i8 %d, 15
  %first = zext i8 %c to i64
  %second = zext nneg i8 %low to i64
  %ten = mul nuw nsw i64 %first, 10
  %number = add nuw nsw i64 %ten, %second
  br label %join

join:                                             ; preds = %digit, %entry
  %v = phi i64 [ -1, %entry ], [ %number, %digit ]
  %at = phi i64 [ 0, %entry ], [ %second, %digit ]
  %less = add nsw i64 %v, -13
  %in = icmp ult i64 %less, -12
  %sign = ashr i64 %less, 63
  %positive = xor i64 %sign, %less
  %era = udiv i64 %positive, 400
  %down = xor i64 %era, %sign
  %days = mul i64 %down, 146097
  %r = urem i64 %positive, 12
  %chosen = select i1 %in, i64 %days, i64 %r
  %wide = sext i32 %m to i64
  %more = add i64 %wide, %chosen
  %far = icmp slt i64 %more, 7
  %q = getelementptr i32, ptr addrspace(1) %table, i64 %at
  %t = load i32, ptr addrspace(1) %q, align 4
  %flag = zext i1 %far to i32
  %sum = add i32 %t, %flag
  %long = sext i32 %sum to i64
  %all = add i64 %long, %chosen
  store i64 %all, ptr addrspace(1) %out, align 8
  ret void
}

attributes #0 = { nounwind }
