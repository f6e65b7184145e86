; Behind x > 0 nothing asks whether x is nan; behind the unordered comparison it may be.
define ptx_kernel void @k(ptr addrspace(1) %out, float %x, double %y) {
entry:
  %above = fcmp ogt float %x, 0.000000e+00
  br i1 %above, label %number, label %other

number:
  %i1 = call i64 @llvm.nvvm.f2ll.rz(float %x)
  %m1 = call i64 @llvm.smin.i64(i64 %i1, i64 254)
  store i64 %m1, ptr addrspace(1) %out
  br label %other

other:
  %least = fcmp uge double %y, -3.000000e+00
  br i1 %least, label %perhaps, label %end

perhaps:
  %i2 = call i64 @llvm.nvvm.d2ll.rz(double %y)
  %m2 = call i64 @llvm.smin.i64(i64 %i2, i64 254)
  %at2 = getelementptr i8, ptr addrspace(1) %out, i64 8
  store i64 %m2, ptr addrspace(1) %at2
  %less = fcmp ugt double %y, 1.000000e+03
  br i1 %less, label %end, label %within

within:
  %i3 = call i64 @llvm.nvvm.d2ll.rz(double %y)
  %at3 = getelementptr i8, ptr addrspace(1) %out, i64 16
  store i64 %i3, ptr addrspace(1) %at3
  br label %end

end:
  ret void
}

declare i64 @llvm.nvvm.f2ll.rz(float)
declare i64 @llvm.nvvm.d2ll.rz(double)
declare i64 @llvm.smin.i64(i64, i64)
