; opt=3
; A maximum that a loop carries, a minimum by the other sign that stays apart from it, and what is read of them: stored, extended, compared.
define ptx_kernel void @k(ptr addrspace(1) align 2 %x, i16 %bound, i32 %n, ptr addrspace(1) align 8 %out) #0 {
entry:
  %first = load i16, ptr addrspace(1) %x, align 2
  br label %loop

loop:                                             ; preds = %loop, %entry
  %k = phi i32 [ 0, %entry ], [ %next, %loop ]
  %best = phi i16 [ %first, %entry ], [ %most, %loop ]
  %low = phi i16 [ poison, %entry ], [ %least, %loop ]
  %at = getelementptr inbounds i16, ptr addrspace(1) %x, i32 %k
  %v = load i16, ptr addrspace(1) %at, align 2
  %most = call i16 @llvm.umax.i16(i16 %best, i16 %v)
  %cut = call i16 @llvm.smin.i16(i16 %v, i16 7)
  %less = icmp slt i16 %cut, %low
  %least = select i1 %less, i16 %cut, i16 %low
  %next = add nuw nsw i32 %k, 1
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %end

end:                                              ; preds = %loop
  %wide = zext i16 %most to i64
  store i64 %wide, ptr addrspace(1) %out, align 8
  %signed = sext i16 %least to i64
  %second = getelementptr inbounds i8, ptr addrspace(1) %out, i64 8
  store i64 %signed, ptr addrspace(1) %second, align 8
  %within = call i16 @llvm.umin.i16(i16 %most, i16 %bound)
  %sum = add i16 %within, %least
  %other = sext i16 %within to i32
  %third = getelementptr inbounds i8, ptr addrspace(1) %out, i64 16
  store i16 %sum, ptr addrspace(1) %third, align 8
  %fourth = getelementptr inbounds i8, ptr addrspace(1) %out, i64 24
  store i32 %other, ptr addrspace(1) %fourth, align 8
  ret void
}

declare i16 @llvm.umax.i16(i16, i16)
declare i16 @llvm.umin.i16(i16, i16)
declare i16 @llvm.smin.i16(i16, i16)

attributes #0 = { nounwind }
