; opt=3
; A minimum of a constant and numbers of 32 bits, and its place; a counter until a constant.
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, ptr addrspace(1) align 8 %out) #0 {
entry:
  br label %loop

loop:
  %k = phi i64 [ 0, %entry ], [ %k.next, %loop ]
  %best = phi i64 [ 1073741824, %entry ], [ %least, %loop ]
  %place = phi i64 [ -1, %entry ], [ %place.next, %loop ]
  %p = getelementptr inbounds i32, ptr addrspace(1) %x, i64 %k
  %v = load volatile i32, ptr addrspace(1) %p, align 4
  %wide = sext i32 %v to i64
  %less = icmp slt i64 %wide, %best
  %least = call i64 @llvm.smin.i64(i64 %wide, i64 %best)
  %place.next = select i1 %less, i64 %k, i64 %place
  %near = icmp ult i64 %k, 7
  %odd = select i1 %near, i64 3, i64 4
  store volatile i64 %odd, ptr addrspace(1) %out, align 8
  %k.next = add nuw nsw i64 %k, 1
  %last = icmp eq i64 %k.next, 100
  br i1 %last, label %end, label %loop

end:
  store i64 %least, ptr addrspace(1) %out, align 8
  store i64 %place.next, ptr addrspace(1) %out, align 8
  ret void
}
declare i64 @llvm.smin.i64(i64, i64)
attributes #0 = { nounwind }
