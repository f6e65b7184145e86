; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 8 %a, ptr addrspace(1) align 8 %b, ptr addrspace(1) align 8 %c, i32 %m, i32 %n, i32 %p, i32 %q) #0 {
entry:
  %s = add nsw i32 %p, %q
  %s64 = sext i32 %s to i64
  %a0 = getelementptr inbounds double, ptr addrspace(1) %a, i64 %s64
  %va0 = load double, ptr addrspace(1) %a0, align 8
  %b0 = getelementptr inbounds double, ptr addrspace(1) %b, i64 %s64
  %vb0 = load double, ptr addrspace(1) %b0, align 8
  %c0 = getelementptr inbounds double, ptr addrspace(1) %c, i64 %s64
  %vc0 = load double, ptr addrspace(1) %c0, align 8
  br label %loop

loop:                                             ; preds = %entry, %loop
  %i = phi i32 [ 1, %entry ], [ %next, %loop ]
  %t = phi double [ %va0, %entry ], [ %tc, %loop ]
  %row = mul nsw i32 %i, %m
  %j = add nsw i32 %row, %s
  %j64 = sext i32 %j to i64
  %ai = getelementptr inbounds double, ptr addrspace(1) %a, i64 %j64
  %vai = load double, ptr addrspace(1) %ai, align 8
  %ua = fmul double %vai, %va0
  %ta = fadd double %t, %ua
  %bi = getelementptr inbounds double, ptr addrspace(1) %b, i64 %j64
  %vbi = load double, ptr addrspace(1) %bi, align 8
  %ub = fmul double %vbi, %vb0
  %tb = fadd double %ta, %ub
  %ci = getelementptr inbounds double, ptr addrspace(1) %c, i64 %j64
  %vci = load double, ptr addrspace(1) %ci, align 8
  %uc = fmul double %vci, %vc0
  %tc = fadd double %tb, %uc
  %next = add nuw nsw i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %exit

exit:                                             ; preds = %loop
  store double %tc, ptr addrspace(1) %a0, align 8
  ret void
}

attributes #0 = { nounwind }
