; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, i32 noundef range(i32 0, -2147483648) %1, i32 noundef range(i32 0, -2147483648) %2, ptr addrspace(1) align 4 %3, i32 noundef range(i32 0, -2147483648) %4, ptr addrspace(1) align 4 %5, i32 noundef range(i32 0, -2147483648) %6) #0 {
entry:
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %8 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %9 = mul nuw nsw i32 %8, %7
  %10 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %11 = add nuw nsw i32 %9, %10
  %.not = icmp samesign ult i32 %11, %6
  br i1 %.not, label %b1, label %b10

b1:                                               ; preds = %entry
  %12 = mul nuw nsw i32 %4, %11
  %13 = sext i32 %12 to i64
  %14 = getelementptr inbounds nuw float, ptr addrspace(1) %3, i64 %13
  %15 = load float, ptr addrspace(1) %14, align 4
  %16 = uitofp nneg i32 %2 to float
  %17 = fmul float %15, %16
  %18 = call contract float @llvm.floor.f32(float %17)
  %19 = call i32 @llvm.nvvm.f2i.rz(float %18)
  %20 = sitofp i32 %19 to float
  %21 = fsub contract float %17, %20
  %22 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %23 = icmp ult i32 %19, %2
  br i1 %23, label %b3, label %b5

b3:                                               ; preds = %b1
  %24 = mul nuw nsw i32 %1, %22
  %25 = add nuw nsw i32 %24, %11
  %26 = mul nuw nsw i32 %25, %2
  %27 = add nuw nsw i32 %26, %19
  %28 = sext i32 %27 to i64
  %29 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %28
  %30 = load float, ptr addrspace(1) %29, align 4
  %31 = fsub contract float 1.000000e+00, %21
  %32 = fmul contract float %31, %30
  %33 = fadd contract float %32, 0.000000e+00
  br label %b5

b5:                                               ; preds = %b1, %b3
  %34 = phi float [ 0.000000e+00, %b1 ], [ %33, %b3 ]
  %35 = freeze i32 %19
  %36 = add i32 %35, 1
  %37 = icmp ult i32 %36, %2
  br i1 %37, label %b7, label %b9

b7:                                               ; preds = %b5
  %38 = mul nuw nsw i32 %1, %22
  %39 = add nuw nsw i32 %38, %11
  %40 = add nsw i32 %19, 1
  %41 = mul nuw nsw i32 %39, %2
  %42 = add nuw nsw i32 %41, %40
  %43 = sext i32 %42 to i64
  %44 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %43
  %45 = load float, ptr addrspace(1) %44, align 4
  %46 = fmul contract float %21, %45
  %47 = fadd contract float %34, %46
  br label %b9

b9:                                               ; preds = %b5, %b7
  %48 = phi float [ %34, %b5 ], [ %47, %b7 ]
  %49 = mul nuw nsw i32 %6, %22
  %50 = add nuw nsw i32 %49, %11
  %51 = sext i32 %50 to i64
  %52 = getelementptr inbounds nuw float, ptr addrspace(1) %5, i64 %51
  store float %48, ptr addrspace(1) %52, align 4
  br label %b10

b10:                                              ; preds = %b9, %entry
  ret void
}

declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #1

declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

declare float @llvm.floor.f32(float) #2

declare i64 @llvm.nvvm.f2ll.rz(float) #1

declare noundef range(i32 0, 65535) i32 @llvm.nvvm.read.ptx.sreg.ctaid.y() #1

declare i32 @llvm.nvvm.f2i.rz(float) #1

declare float @llvm.maxnum.f32(float, float) #2

declare float @llvm.minnum.f32(float, float) #2

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
