; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, i32 noundef range(i32 0, -2147483648) %1, i32 noundef range(i32 0, -2147483648) %2, ptr addrspace(1) align 4 %3, i32 noundef range(i32 0, -2147483648) %4, ptr addrspace(1) align 4 %5, i32 noundef range(i32 0, -2147483648) %6) #0 {
entry:
  %7 = zext nneg i32 %2 to i64
  %8 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %9 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %10 = mul nuw nsw i32 %9, %8
  %11 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %12 = add nuw nsw i32 %10, %11
  %.not = icmp samesign ult i32 %12, %6
  br i1 %.not, label %b1, label %b10

b1:                                               ; preds = %entry
  %13 = mul nuw nsw i32 %4, %12
  %14 = zext nneg i32 %13 to i64
  %15 = getelementptr inbounds nuw float, ptr addrspace(1) %3, i64 %14
  %16 = load float, ptr addrspace(1) %15, align 4
  %17 = uitofp nneg i32 %2 to float
  %18 = fmul contract float %16, %17
  %19 = call contract float @llvm.floor.f32(float %18)
  %20 = call i64 @llvm.nvvm.f2ll.rz(float %19)
  %21 = fcmp uno float %19, 0.000000e+00
  %22 = select i1 %21, i64 0, i64 %20
  %23 = sitofp i64 %22 to float
  %24 = fsub contract float %18, %23
  %25 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %26 = icmp sgt i64 %22, -1
  %27 = icmp slt i64 %22, %7
  %or.cond = select i1 %26, i1 %27, i1 false
  br i1 %or.cond, label %b3, label %b5

b3:                                               ; preds = %b1
  %28 = mul nuw nsw i32 %1, %25
  %29 = add nuw nsw i32 %28, %12
  %30 = trunc nuw nsw i64 %22 to i32
  %31 = mul nuw nsw i32 %29, %2
  %32 = add nuw nsw i32 %31, %30
  %33 = zext nneg i32 %32 to i64
  %34 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %33
  %35 = load float, ptr addrspace(1) %34, align 4
  %36 = fsub contract float 1.000000e+00, %24
  %37 = fmul contract float %36, %35
  %38 = fadd contract float %37, 0.000000e+00
  br label %b5

b5:                                               ; preds = %b1, %b3
  %39 = phi float [ 0.000000e+00, %b1 ], [ %38, %b3 ]
  %40 = add i64 %22, 1
  %41 = icmp sgt i64 %40, -1
  %42 = icmp slt i64 %40, %7
  %or.cond1 = select i1 %41, i1 %42, i1 false
  br i1 %or.cond1, label %b7, label %b9

b7:                                               ; preds = %b5
  %43 = mul nuw nsw i32 %1, %25
  %44 = add nuw nsw i32 %43, %12
  %45 = trunc nuw nsw i64 %40 to i32
  %46 = mul nuw nsw i32 %44, %2
  %47 = add nuw nsw i32 %46, %45
  %48 = zext nneg i32 %47 to i64
  %49 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %48
  %50 = load float, ptr addrspace(1) %49, align 4
  %51 = fmul contract float %24, %50
  %52 = fadd contract float %39, %51
  br label %b9

b9:                                               ; preds = %b5, %b7
  %53 = phi float [ %39, %b5 ], [ %52, %b7 ]
  %54 = mul nuw nsw i32 %6, %25
  %55 = add nuw nsw i32 %54, %12
  %56 = zext nneg i32 %55 to i64
  %57 = getelementptr inbounds nuw float, ptr addrspace(1) %5, i64 %56
  store float %53, ptr addrspace(1) %57, align 4
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

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
