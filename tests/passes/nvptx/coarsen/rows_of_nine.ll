; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, i32 range(i32 0, -2147483648) %1, ptr addrspace(1) align 4 %2, i32 range(i32 0, -2147483648) %3) #0 {
entry:
  %4 = zext nneg i32 %3 to i64
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %6 = zext nneg i32 %5 to i64
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %8 = zext nneg i32 %7 to i64
  %9 = mul nuw nsw i64 %8, %6
  %10 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %11 = zext nneg i32 %10 to i64
  %12 = add nuw nsw i64 %9, %11
  %13 = icmp samesign ult i64 %12, %4
  br i1 %13, label %b1, label %b2

b1:                                               ; preds = %entry
  %14 = trunc nuw nsw i64 %12 to i32
  %15 = mul nsw i32 %1, %14
  %16 = zext nneg i32 %15 to i64
  %17 = getelementptr float, ptr addrspace(1) %0, i64 %16
  %18 = load float, ptr addrspace(1) %17, align 4
  %19 = getelementptr i8, ptr addrspace(1) %17, i64 16
  %20 = load float, ptr addrspace(1) %19, align 4
  %21 = fmul contract float %18, %20
  %22 = getelementptr i8, ptr addrspace(1) %17, i64 4
  %23 = load float, ptr addrspace(1) %22, align 4
  %24 = getelementptr i8, ptr addrspace(1) %17, i64 20
  %25 = load float, ptr addrspace(1) %24, align 4
  %26 = fmul contract float %23, %25
  %27 = fadd contract float %21, %26
  %28 = getelementptr i8, ptr addrspace(1) %17, i64 8
  %29 = load float, ptr addrspace(1) %28, align 4
  %30 = getelementptr i8, ptr addrspace(1) %17, i64 24
  %31 = load float, ptr addrspace(1) %30, align 4
  %32 = fmul contract float %29, %31
  %33 = fadd contract float %27, %32
  %34 = getelementptr i8, ptr addrspace(1) %17, i64 12
  %35 = load float, ptr addrspace(1) %34, align 4
  %36 = getelementptr i8, ptr addrspace(1) %17, i64 28
  %37 = load float, ptr addrspace(1) %36, align 4
  %38 = fmul contract float %35, %37
  %39 = fadd contract float %33, %38
  %40 = getelementptr i8, ptr addrspace(1) %17, i64 32
  %41 = load float, ptr addrspace(1) %40, align 4
  %42 = fmul contract float %20, %41
  %43 = fadd contract float %39, %42
  %44 = fmul contract float %18, %25
  %45 = fadd contract float %44, %43
  %46 = fmul contract float %23, %31
  %47 = fadd contract float %46, %45
  %48 = fmul contract float %29, %37
  %49 = fadd contract float %48, %47
  %50 = fmul contract float %35, %41
  %51 = fadd contract float %50, %49
  %52 = shl nuw nsw i64 %12, 2
  %53 = getelementptr inbounds nuw i8, ptr addrspace(1) %2, i64 %52
  store float %51, ptr addrspace(1) %53, align 4
  br label %b2

b2:                                               ; preds = %b1, %entry
  ret void
}

declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #1

declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
