; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, ptr addrspace(1) align 4 %1, i32 range(i32 0, -2147483648) %2, ptr addrspace(1) align 8 %3) #0 {
entry:
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %6 = mul i32 %5, %4
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %8 = add i32 %6, %7
  %9 = sext i32 %8 to i64
  %10 = getelementptr float, ptr addrspace(1) %0, i64 %9
  %11 = getelementptr i8, ptr addrspace(1) %10, i64 4
  %12 = load float, ptr addrspace(1) %11, align 4
  %13 = call i64 @llvm.nvvm.f2ll.rz(float %12)
  %14 = fcmp uno float %12, 0.000000e+00
  %15 = sitofp i64 %13 to float
  %16 = select i1 %14, float 0.000000e+00, float %15
  %17 = load float, ptr addrspace(1) %10, align 4
  %18 = call contract float @llvm.ceil.f32(float %17)
  %19 = call i64 @llvm.nvvm.f2ll.rz(float %18)
  %20 = fcmp uno float %18, 0.000000e+00
  %21 = add i64 %19, 1
  %22 = call i64 @llvm.smax.i64(i64 %21, i64 0)
  %23 = select i1 %20, i64 1, i64 %22
  %24 = add nsw i32 %2, -1
  %25 = sext i32 %24 to i64
  %26 = call i64 @llvm.smin.i64(i64 %23, i64 %25)
  %27 = trunc nsw i64 %26 to i32
  %28 = add i32 %2, %27
  %29 = call i32 @llvm.umin.i32(i32 %27, i32 %28)
  %30 = sext i32 %29 to i64
  %31 = getelementptr inbounds float, ptr addrspace(1) %1, i64 %30
  store float %16, ptr addrspace(1) %31, align 4
  %32 = getelementptr i8, ptr addrspace(1) %10, i64 8
  %33 = load float, ptr addrspace(1) %32, align 4
  %34 = call i64 @llvm.nvvm.f2ll.rz(float %33)
  %35 = fcmp uno float %33, 0.000000e+00
  %36 = call i64 @llvm.smax.i64(i64 %34, i64 3)
  %37 = call i64 @llvm.umin.i64(i64 %36, i64 1099511627776)
  %38 = select i1 %35, i64 3, i64 %37
  %39 = getelementptr inbounds i64, ptr addrspace(1) %3, i64 %9
  store i64 %38, ptr addrspace(1) %39, align 8
  ret void
}

declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #1

declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

declare i64 @llvm.nvvm.f2ll.rz(float) #1

declare float @llvm.ceil.f32(float) #2

declare i32 @llvm.umin.i32(i32, i32) #2

declare i64 @llvm.smax.i64(i64, i64) #2

declare i64 @llvm.smin.i64(i64, i64) #2

declare i64 @llvm.umin.i64(i64, i64) #2

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
