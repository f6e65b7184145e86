; opt=3
define ptx_kernel void @k(double %a, i32 %n, ptr addrspace(1) align 8 %x, ptr addrspace(1) align 8 %out) #0 {
entry:
  %p = load double, ptr addrspace(1) %x, align 8
  %square = fmul double %p, %p
  %minus = fsub double 0.000000e+00, %square
  %odd = icmp eq i32 %n, 3
  %one = select i1 %odd, double %square, double %minus
  %whole = fptosi double %a to i32
  %wide = sext i32 %whole to i64
  %some = icmp ugt i32 %n, 1
  br i1 %some, label %yes, label %behind

yes:                                              ; preds = %entry
  %there = getelementptr inbounds double, ptr addrspace(1) %x, i64 %wide
  store double 1.000000e+00, ptr addrspace(1) %there, align 8
  br label %behind

behind:                                           ; preds = %yes, %entry
  %here = getelementptr inbounds double, ptr addrspace(1) %out, i64 %wide
  store double %one, ptr addrspace(1) %here, align 8
  ret void
}

attributes #0 = { nounwind }
