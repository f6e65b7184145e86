; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, i32 %1, i32 %2) {
entry:
  %3 = add nuw nsw i32 %1, %2
  %4 = zext nneg i32 %3 to i64
  %5 = getelementptr inbounds float, ptr addrspace(1) %0, i64 %4
  store float 1.000000e+00, ptr addrspace(1) %5, align 4
  %6 = zext i32 %2 to i64
  %7 = getelementptr inbounds float, ptr addrspace(1) %0, i64 %6
  store float 2.000000e+00, ptr addrspace(1) %7, align 4
  %8 = zext nneg i32 %1 to i64
  %9 = udiv i64 %8, 3
  %10 = getelementptr inbounds float, ptr addrspace(1) %0, i64 %9
  store float 3.000000e+00, ptr addrspace(1) %10, align 4
  ret void
}
