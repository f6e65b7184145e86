; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 8 %x, double %first, double %second) {
entry:
  %y = load double, ptr addrspace(1) %x, align 8
  %a = fdiv double %first, %y
  store double %a, ptr addrspace(1) %x, align 8
  %b = fdiv contract double %second, %y
  %to = getelementptr inbounds i8, ptr addrspace(1) %x, i64 8
  store double %b, ptr addrspace(1) %to, align 8
  ret void
}
