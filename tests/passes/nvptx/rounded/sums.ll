; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, i32 noundef range(i32 0, -2147483648) %1, ptr addrspace(1) align 4 %2, i32 noundef range(i32 0, -2147483648) %3, ptr addrspace(1) align 4 %4, ptr addrspace(1) align 1 %5) {
entry:
  %6 = zext nneg i32 %3 to i64
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %8 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %9 = mul nuw nsw i32 %8, %7
  %10 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %11 = add nuw nsw i32 %9, %10
  %12 = icmp samesign ult i32 %11, %1
  br i1 %12, label %b1, label %b5

b1:                                               ; preds = %entry
  %13 = zext nneg i32 %11 to i64
  %14 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %13
  %15 = load float, ptr addrspace(1) %14, align 4
  %16 = call contract float @llvm.floor.f32(float %15)
  %17 = call i64 @llvm.nvvm.f2ll.rz(float %16)
  %18 = fcmp uno float %16, 0.000000e+00
  %19 = select i1 %18, i64 0, i64 %17
  %20 = icmp sgt i64 %19, -1
  %21 = add i64 %19, 1
  %22 = icmp slt i64 %21, %6
  %23 = select i1 %20, i1 %22, i1 false
  br i1 %23, label %b3, label %b4

b3:                                               ; preds = %b1
  %24 = uitofp nneg i64 %19 to float
  %25 = fsub contract float %15, %24
  %26 = fsub contract float 1.000000e+00, %25
  %sext = shl i64 %19, 32
  %27 = ashr exact i64 %sext, 30
  %28 = getelementptr inbounds i8, ptr addrspace(1) %2, i64 %27
  %29 = load float, ptr addrspace(1) %28, align 4
  %30 = fmul contract float %26, %29
  %31 = getelementptr i8, ptr addrspace(1) %28, i64 4
  %32 = load float, ptr addrspace(1) %31, align 4
  %33 = fmul contract float %25, %32
  %34 = fadd contract float %30, %33
  %35 = getelementptr inbounds nuw float, ptr addrspace(1) %4, i64 %13
  store float %34, ptr addrspace(1) %35, align 4
  %.pre = load float, ptr addrspace(1) %14, align 4
  br label %b4

b4:                                               ; preds = %b1, %b3
  %36 = phi float [ %15, %b1 ], [ %.pre, %b3 ]
  %37 = call i64 @llvm.nvvm.f2ll.rz(float %36)
  %38 = fcmp uno float %36, 0.000000e+00
  %39 = add i64 %37, 2
  %40 = select i1 %38, i64 2, i64 %39
  %41 = icmp slt i64 %40, %6
  %42 = zext i1 %41 to i8
  %43 = getelementptr inbounds nuw i8, ptr addrspace(1) %5, i64 %13
  store i8 %42, ptr addrspace(1) %43, align 1
  br label %b5

b5:                                               ; preds = %b4, %entry
  ret void
}

declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare float @llvm.floor.f32(float)
declare i64 @llvm.nvvm.f2ll.rz(float)
