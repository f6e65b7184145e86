; min(int(x), 254) behind x > 0 (or nan), int(x) behind 0 <= x < 1000, also where one branch says
; both; behind x < 1000 alone, and behind a comparison with a float that may be nan, as it was.
define ptx_kernel void @k(ptr addrspace(1) %out, float %x, float %y, i64 %n) {
entry:
  %i = call i64 @llvm.nvvm.f2ll.rz(float %x)
  %nan = fcmp uno float %x, %x
  %early = select i1 %nan, i64 0, i64 %i
  %above = fcmp ugt float %x, 0.000000e+00
  br i1 %above, label %positive, label %other

positive:
  %i1 = call i64 @llvm.nvvm.f2ll.rz(float %x)
  %nan1 = fcmp uno float %x, %x
  %s1 = select i1 %nan1, i64 0, i64 %i1
  %m1 = call i64 @llvm.smin.i64(i64 %s1, i64 254)
  store i64 %m1, ptr addrspace(1) %out
  %f1 = sitofp i64 %m1 to float
  %at1 = getelementptr i8, ptr addrspace(1) %out, i64 8
  store float %f1, ptr addrspace(1) %at1
  %wide = call i64 @llvm.smin.i64(i64 %s1, i64 %n)
  %at2 = getelementptr i8, ptr addrspace(1) %out, i64 16
  store i64 %wide, ptr addrspace(1) %at2
  %less = fcmp olt float %x, 1.000000e+03
  br i1 %less, label %within, label %other

within:
  %i2 = call i64 @llvm.nvvm.f2ll.rz(float %x)
  %nan2 = fcmp uno float %x, %x
  %s2 = select i1 %nan2, i64 0, i64 %i2
  %at3 = getelementptr i8, ptr addrspace(1) %out, i64 24
  store i64 %s2, ptr addrspace(1) %at3
  br label %other

other:
  %at4 = getelementptr i8, ptr addrspace(1) %out, i64 32
  store i64 %early, ptr addrspace(1) %at4
  %from = fcmp oge float %y, -2.000000e+00
  %until = fcmp olt float %y, 1.000000e+03
  %both = and i1 %from, %until
  br i1 %both, label %one, label %half

one:
  %i3 = call i64 @llvm.nvvm.f2ll.rz(float %y)
  %nan3 = fcmp uno float %y, %y
  %s3 = select i1 %nan3, i64 0, i64 %i3
  %at5 = getelementptr i8, ptr addrspace(1) %out, i64 40
  store i64 %s3, ptr addrspace(1) %at5
  br label %half

half:
  br i1 %until, label %small, label %unknown

small:
  %i4 = call i64 @llvm.nvvm.f2ll.rz(float %y)
  %nan4 = fcmp uno float %y, %y
  %s4 = select i1 %nan4, i64 0, i64 %i4
  %m4 = call i64 @llvm.smin.i64(i64 %s4, i64 254)
  %at6 = getelementptr i8, ptr addrspace(1) %out, i64 48
  store i64 %m4, ptr addrspace(1) %at6
  br label %unknown

unknown:
  %not = fcmp olt float %y, %x
  br i1 %not, label %end, label %perhaps

perhaps:
  %i5 = call i64 @llvm.nvvm.f2ll.rz(float %y)
  %nan5 = fcmp uno float %y, %y
  %s5 = select i1 %nan5, i64 0, i64 %i5
  %m5 = call i64 @llvm.smin.i64(i64 %s5, i64 254)
  %at7 = getelementptr i8, ptr addrspace(1) %out, i64 56
  store i64 %m5, ptr addrspace(1) %at7
  br label %end

end:
  ret void
}

declare i64 @llvm.nvvm.f2ll.rz(float)
declare i64 @llvm.smin.i64(i64, i64)
