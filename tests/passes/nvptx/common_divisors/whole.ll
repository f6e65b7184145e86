; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 8 %x, i64 %sum, i64 %rest, i32 %count, i64 %all, i64 %below) {
entry:
  %none = icmp eq i32 %count, 0
  %full = icmp eq i64 %all, %below
  %either = or i1 %none, %full
  br i1 %either, label %maybe, label %some

some:                                             ; preds = %entry
  %s = sitofp i64 %sum to double
  %wide = zext i32 %count to i64
  %n = uitofp i64 %wide to double
  %above = sub i64 %all, %below
  %r = sitofp i64 %rest to double
  %m = sitofp i64 %above to double
  %a = fdiv double %s, %n
  %b = fdiv double %r, %m
  %gap = fsub double %a, %b
  store double %gap, ptr addrspace(1) %x, align 8
  br label %end

maybe:                                            ; preds = %entry
  %t = sitofp i64 %sum to double
  %k = uitofp i32 %count to double
  %c = fdiv double %t, %k
  %third = fdiv double %c, %k
  store double %third, ptr addrspace(1) %x, align 8
  br label %end

end:                                              ; preds = %maybe, %some
  ret void
}
