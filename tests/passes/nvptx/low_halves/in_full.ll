; opt=3
; Is a number of which no more than 64 bits is known in range of an extent: one comparison. Not of a bound that may be negative, or is known behind the sign only.
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, i32 noundef range(i32 0, -2147483648) %n, i32 %any, i64 %number, ptr addrspace(1) align 8 %out) #0 {
entry:
  %extent = zext nneg i32 %n to i64
  %negative = icmp slt i64 %number, 0
  %behind = icmp sge i64 %number, %extent
  %out.of = select i1 %negative, i1 true, i1 %behind
  br i1 %out.of, label %second, label %load

load:                                             ; preds = %entry
  %p = getelementptr float, ptr addrspace(1) %x, i64 %number
  %v = load float, ptr addrspace(1) %p, align 4
  store float %v, ptr addrspace(1) %out, align 4
  br label %second

second:                                           ; preds = %load, %entry
  %other = add i64 %number, 5
  %sign = icmp sgt i64 %other, -1
  %below = icmp sgt i64 %extent, %other
  %in = and i1 %below, %sign
  %wide = sext i32 %any to i64
  %below.any = icmp slt i64 %other, %wide
  %in.any = select i1 %sign, i1 %below.any, i1 false
  %loaded = load i32, ptr addrspace(1) %x, align 4
  %known = zext nneg i32 %loaded to i64
  %below.known = icmp slt i64 %other, %known
  %in.known = select i1 %sign, i1 %below.known, i1 false
  %a = zext i1 %in to i8
  %b = zext i1 %in.any to i8
  %c = zext i1 %in.known to i8
  store i8 %a, ptr addrspace(1) %out, align 1
  %q = getelementptr i8, ptr addrspace(1) %out, i64 1
  store i8 %b, ptr addrspace(1) %q, align 1
  %r = getelementptr i8, ptr addrspace(1) %out, i64 2
  store i8 %c, ptr addrspace(1) %r, align 1
  ret void
}

; Nor what another block asks.
define ptx_kernel void @elsewhere(i32 noundef range(i32 0, -2147483648) %n, i32 %any, i64 %number, ptr addrspace(1) align 8 %out) #0 {
entry:
  %extent = zext nneg i32 %n to i64
  %negative = icmp slt i64 %number, 0
  %behind = icmp sge i64 %number, %extent
  %out.of = select i1 %negative, i1 true, i1 %behind
  %some = icmp eq i32 %any, 0
  br i1 %some, label %second, label %end

second:                                           ; preds = %entry
  %a = zext i1 %out.of to i8
  store i8 %a, ptr addrspace(1) %out, align 1
  br label %end

end:                                              ; preds = %second, %entry
  ret void
}

attributes #0 = { nounwind }
