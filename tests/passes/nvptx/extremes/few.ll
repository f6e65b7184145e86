; opt=3
; Of three that begin with one number it pays, of two it does not.
define ptx_kernel void @k(float %a, float %b, float %c, float %d, ptr addrspace(1) align 4 %out) #0 {
entry:
  %0 = fcmp olt float %b, %a
  %ab = select i1 %0, float %b, float %a
  %1 = fcmp olt float %c, %ab
  %abc = select i1 %1, float %c, float %ab
  %2 = fcmp olt float %d, %abc
  %abcd = select i1 %2, float %d, float %abc
  store float %abcd, ptr addrspace(1) %out, align 4
  %3 = fcmp ogt float %b, %d
  %db = select i1 %3, float %b, float %d
  %4 = fcmp ogt float %c, %db
  %dbc = select i1 %4, float %c, float %db
  %p = getelementptr inbounds nuw float, ptr addrspace(1) %out, i32 1
  store float %dbc, ptr addrspace(1) %p, align 4
  ret void
}

attributes #0 = { nounwind }
