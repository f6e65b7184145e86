; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 8 %0, ptr addrspace(1) align 4 %1, i32 range(i32 0, -2147483648) %2, ptr addrspace(1) align 4 %3) #0 {
entry:
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %6 = mul i32 %5, %4
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %8 = add i32 %6, %7
  %9 = sext i32 %8 to i64
  %10 = getelementptr inbounds double, ptr addrspace(1) %0, i64 %9
  %11 = load double, ptr addrspace(1) %10, align 8
  %12 = call contract double @llvm.floor.f64(double %11)
  %13 = call i64 @llvm.nvvm.d2ll.rz(double %12)
  %14 = fcmp uno double %12, 0.000000e+00
  %15 = select i1 %14, i64 0, i64 %13
  %16 = add nsw i32 %2, -1
  %17 = sext i32 %16 to i64
  %18 = add i64 %15, -1
  %19 = call i64 @llvm.smax.i64(i64 %18, i64 0)
  %20 = call i64 @llvm.smin.i64(i64 %19, i64 %17)
  %21 = trunc nsw i64 %20 to i32
  %22 = add i32 %2, %21
  %23 = call i32 @llvm.umin.i32(i32 %21, i32 %22)
  %24 = sext i32 %23 to i64
  %25 = getelementptr inbounds float, ptr addrspace(1) %1, i64 %24
  %26 = load float, ptr addrspace(1) %25, align 4
  %27 = call i64 @llvm.smax.i64(i64 %15, i64 0)
  %28 = call i64 @llvm.smin.i64(i64 %27, i64 %17)
  %29 = trunc nsw i64 %28 to i32
  %30 = add i32 %2, %29
  %31 = call i32 @llvm.umin.i32(i32 %29, i32 %30)
  %32 = sext i32 %31 to i64
  %33 = getelementptr inbounds float, ptr addrspace(1) %1, i64 %32
  %34 = load float, ptr addrspace(1) %33, align 4
  %35 = fadd contract float %26, %34
  %36 = add i64 %15, 2
  %37 = call i64 @llvm.smin.i64(i64 %36, i64 %17)
  %38 = call i64 @llvm.smax.i64(i64 %37, i64 0)
  %39 = shl nuw nsw i64 %38, 2
  %40 = getelementptr inbounds nuw i8, ptr addrspace(1) %1, i64 %39
  %41 = load float, ptr addrspace(1) %40, align 4
  %42 = fadd contract float %35, %41
  %43 = getelementptr inbounds float, ptr addrspace(1) %3, i64 %9
  store float %42, ptr addrspace(1) %43, align 4
  %44 = add i64 %15, -2
  %45 = call i64 @llvm.smin.i64(i64 %44, i64 %17)
  %46 = call i64 @llvm.smax.i64(i64 %45, i64 0)
  %47 = shl nuw nsw i64 %46, 2
  %48 = getelementptr inbounds nuw i8, ptr addrspace(1) %1, i64 %47
  store float 1.000000e+00, ptr addrspace(1) %48, align 4
  ret void
}

declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #1

declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

declare double @llvm.floor.f64(double) #2

declare i64 @llvm.nvvm.d2ll.rz(double) #1

declare i32 @llvm.umin.i32(i32, i32) #2

declare i64 @llvm.smax.i64(i64, i64) #2

declare i64 @llvm.smin.i64(i64, i64) #2

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
