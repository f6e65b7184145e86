; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 8 %x, i64 %sum, i64 %count) {
entry:
  %s = sitofp i64 %sum to double
  %n = sitofp i64 %count to double
  %minus = fneg double %s
  %a = fdiv double %minus, %n
  store double %a, ptr addrspace(1) %x, align 8
  %to = getelementptr inbounds i8, ptr addrspace(1) %x, i64 8
  %some = load double, ptr addrspace(1) %to, align 8
  %b = fdiv double %s, %some
  store double %b, ptr addrspace(1) %to, align 8
  ret void
}
