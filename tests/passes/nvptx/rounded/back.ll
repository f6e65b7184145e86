; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, ptr addrspace(1) align 4 %1, ptr addrspace(1) align 8 %2) #0 {
entry:
  %3 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %5 = mul i32 %4, %3
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %7 = add i32 %5, %6
  %8 = sext i32 %7 to i64
  %9 = getelementptr inbounds float, ptr addrspace(1) %0, i64 %8
  %10 = load float, ptr addrspace(1) %9, align 4
  %11 = call contract float @llvm.floor.f32(float %10)
  %12 = call i64 @llvm.nvvm.f2ll.rz(float %11)
  %13 = fcmp uno float %11, 0.000000e+00
  %14 = select i1 %13, i64 0, i64 %12
  %15 = sitofp i64 %14 to float
  %16 = add i64 %14, 1
  %17 = sitofp i64 %16 to float
  %18 = fmul contract float %15, %17
  %19 = add i64 %14, -3
  %20 = sitofp i64 %19 to float
  %21 = fsub contract float %18, %20
  %22 = getelementptr inbounds float, ptr addrspace(1) %1, i64 %8
  store float %21, ptr addrspace(1) %22, align 4
  %23 = getelementptr inbounds double, ptr addrspace(1) %2, i64 %8
  %24 = load double, ptr addrspace(1) %23, align 8
  %25 = call contract double @llvm.floor.f64(double %24)
  %26 = call i64 @llvm.nvvm.d2ll.rz(double %25)
  %27 = fcmp uno double %25, 0.000000e+00
  %28 = sitofp i64 %26 to float
  %29 = fpext float %28 to double
  %30 = select i1 %27, double 0.000000e+00, double %29
  store double %30, ptr addrspace(1) %23, align 8
  ret void
}

declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #1

declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

declare float @llvm.floor.f32(float) #2

declare i64 @llvm.nvvm.f2ll.rz(float) #1

declare double @llvm.floor.f64(double) #2

declare i64 @llvm.nvvm.d2ll.rz(double) #1

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
