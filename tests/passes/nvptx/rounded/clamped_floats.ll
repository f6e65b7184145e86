; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, i32 noundef range(i32 0, -2147483648) %1, ptr addrspace(1) align 4 %2, ptr addrspace(1) align 4 %3, i32 noundef range(i32 0, -2147483648) %4, ptr addrspace(1) align 4 %5, ptr addrspace(1) align 8 %6) {
entry:
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %8 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %9 = mul nuw nsw i32 %8, %7
  %10 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %11 = add nuw nsw i32 %9, %10
  %12 = icmp samesign ult i32 %11, %1
  br i1 %12, label %b1, label %b2

b1:                                               ; preds = %entry
  %13 = zext nneg i32 %4 to i64
  %14 = zext nneg i32 %11 to i64
  %15 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %14
  %16 = load float, ptr addrspace(1) %15, align 4
  %17 = fcmp olt float %16, 0.000000e+00
  %18 = select i1 %17, float 0.000000e+00, float %16
  %19 = add nsw i32 %4, -1
  %20 = sext i32 %19 to i64
  %21 = sitofp i32 %19 to float
  %22 = fcmp ogt float %18, %21
  %23 = select i1 %22, float %21, float %18
  %24 = call i64 @llvm.nvvm.f2ll.rz(float %23)
  %25 = fcmp uno float %23, 0.000000e+00
  %26 = select i1 %25, i64 0, i64 %24
  %27 = sitofp i64 %26 to float
  %28 = fsub contract float %23, %27
  %29 = icmp slt i64 %26, 0
  %30 = select i1 %29, i64 %13, i64 0
  %31 = add i64 %30, %26
  %sext = shl i64 %31, 32
  %32 = ashr exact i64 %sext, 30
  %33 = getelementptr inbounds i8, ptr addrspace(1) %3, i64 %32
  %34 = load float, ptr addrspace(1) %33, align 4
  %35 = fmul contract float %34, %28
  %36 = add i64 %26, 1
  %37 = call i64 @llvm.smin.i64(i64 %36, i64 %20)
  %38 = icmp slt i64 %37, 0
  %39 = select i1 %38, i64 %13, i64 0
  %40 = add nsw i64 %39, %37
  %sext1 = shl i64 %40, 32
  %41 = ashr exact i64 %sext1, 30
  %42 = getelementptr inbounds i8, ptr addrspace(1) %3, i64 %41
  %43 = load float, ptr addrspace(1) %42, align 4
  %44 = fadd contract float %43, %35
  %45 = getelementptr inbounds nuw float, ptr addrspace(1) %5, i64 %14
  store float %44, ptr addrspace(1) %45, align 4
  %46 = load float, ptr addrspace(1) %15, align 4
  %47 = fcmp olt float %46, 0.000000e+00
  %48 = select i1 %47, float 0.000000e+00, float %46
  %49 = load float, ptr addrspace(1) %2, align 4
  %50 = fcmp olt float %49, %48
  %51 = select i1 %50, float %49, float %48
  %52 = call i64 @llvm.nvvm.f2ll.rz(float %51)
  %53 = fcmp uno float %51, 0.000000e+00
  %54 = select i1 %53, i64 0, i64 %52
  %55 = getelementptr inbounds nuw i64, ptr addrspace(1) %6, i64 %14
  store i64 %54, ptr addrspace(1) %55, align 8
  br label %b2

b2:                                               ; preds = %b1, %entry
  ret void
}

declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i64 @llvm.nvvm.f2ll.rz(float)
declare i64 @llvm.smin.i64(i64, i64)
