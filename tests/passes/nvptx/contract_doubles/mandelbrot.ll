; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, ptr addrspace(1) align 4 %1) #0 {
entry:
  %2 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %3 = zext nneg i32 %2 to i64
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %5 = zext nneg i32 %4 to i64
  %6 = mul nuw nsw i64 %5, %3
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %8 = zext nneg i32 %7 to i64
  %9 = add nuw nsw i64 %6, %8
  %sext1 = shl i64 %9, 32
  %10 = ashr exact i64 %sext1, 30
  %11 = getelementptr inbounds i8, ptr addrspace(1) %0, i64 %10
  %12 = load float, ptr addrspace(1) %11, align 4
  %13 = getelementptr i8, ptr addrspace(1) %11, i64 4
  %14 = load float, ptr addrspace(1) %13, align 4
  br label %b3

b3:                                               ; preds = %entry, %b3
  %15 = phi float [ 0.000000e+00, %entry ], [ %27, %b3 ]
  %16 = phi float [ 0.000000e+00, %entry ], [ %26, %b3 ]
  %17 = phi float [ 0.000000e+00, %entry ], [ %21, %b3 ]
  %18 = phi float [ 0.000000e+00, %entry ], [ %24, %b3 ]
  %19 = phi i64 [ 0, %entry ], [ %25, %b3 ]
  %20 = fsub contract float %16, %15
  %21 = fadd contract float %20, %12
  %22 = fmul contract float %18, %17
  %23 = fadd contract float %22, %22
  %24 = fadd contract float %23, %14
  %25 = add nuw nsw i64 %19, 1
  %26 = fmul contract float %21, %21
  %27 = fmul contract float %24, %24
  %28 = fadd contract float %27, %26
  %29 = fcmp ole float %28, 4.000000e+00
  %30 = icmp samesign ult i64 %19, 99
  %or.cond = select i1 %29, i1 %30, i1 false
  br i1 %or.cond, label %b3, label %b4

b4:                                               ; preds = %b3
  %.lcssa = phi i64 [ %25, %b3 ]
  %31 = uitofp nneg i64 %.lcssa to float
  %32 = getelementptr inbounds i8, ptr addrspace(1) %1, i64 %10
  store float %31, ptr addrspace(1) %32, align 4
  ret void
}

declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #1

declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
