; opt=1
define ptx_kernel void @k(ptr addrspace(1) readonly align 4 captures(none) %0, ptr addrspace(1) writeonly align 4 captures(none) %1) local_unnamed_addr #0 {
entry:
  %2 = tail call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %3 = zext nneg i32 %2 to i64
  %4 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %5 = zext nneg i32 %4 to i64
  %6 = mul nuw nsw i64 %5, %3
  %7 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %8 = zext nneg i32 %7 to i64
  %9 = add nuw nsw i64 %6, %8
  %10 = trunc i64 %9 to i32
  %invariant.op = add i32 1, %10
  %invariant.op1 = add i32 2, %10
  %invariant.op3 = add i32 3, %10
  %invariant.op5 = add i32 4, %10
  br label %b2

b2:                                               ; preds = %b2, %entry
  %11 = phi i32 [ 0, %entry ], [ %38, %b2 ]
  %12 = phi i32 [ 0, %entry ], [ %44, %b2 ]
  %13 = add i32 %11, %10
  %14 = sext i32 %13 to i64
  %15 = getelementptr inbounds float, ptr addrspace(1) %0, i64 %14
  %16 = load float, ptr addrspace(1) %15, align 4
  %17 = fcmp ogt float %16, 0.000000e+00
  %18 = zext i1 %17 to i32
  %19 = add i32 %12, %18
  %.reass = add i32 %11, %invariant.op
  %20 = sext i32 %.reass to i64
  %21 = getelementptr inbounds float, ptr addrspace(1) %0, i64 %20
  %22 = load float, ptr addrspace(1) %21, align 4
  %23 = fcmp ogt float %22, 0.000000e+00
  %24 = zext i1 %23 to i32
  %25 = add i32 %19, %24
  %.reass2 = add i32 %11, %invariant.op1
  %26 = sext i32 %.reass2 to i64
  %27 = getelementptr inbounds float, ptr addrspace(1) %0, i64 %26
  %28 = load float, ptr addrspace(1) %27, align 4
  %29 = fcmp ogt float %28, 0.000000e+00
  %30 = zext i1 %29 to i32
  %31 = add i32 %25, %30
  %.reass4 = add i32 %11, %invariant.op3
  %32 = sext i32 %.reass4 to i64
  %33 = getelementptr inbounds float, ptr addrspace(1) %0, i64 %32
  %34 = load float, ptr addrspace(1) %33, align 4
  %35 = fcmp ogt float %34, 0.000000e+00
  %36 = zext i1 %35 to i32
  %37 = add i32 %31, %36
  %38 = add nuw nsw i32 %11, 5
  %.reass6 = add i32 %11, %invariant.op5
  %39 = sext i32 %.reass6 to i64
  %40 = getelementptr inbounds float, ptr addrspace(1) %0, i64 %39
  %41 = load float, ptr addrspace(1) %40, align 4
  %42 = fcmp ogt float %41, 0.000000e+00
  %43 = zext i1 %42 to i32
  %44 = add i32 %37, %43
  %exitcond.not.4 = icmp eq i32 %38, 100
  br i1 %exitcond.not.4, label %b4, label %b2

b4:                                               ; preds = %b2
  %sext = shl i64 %9, 32
  %45 = ashr exact i64 %sext, 30
  %46 = getelementptr inbounds i8, ptr addrspace(1) %1, i64 %45
  store i32 %44, ptr addrspace(1) %46, align 4
  ret void
}

declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #1

declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

attributes #0 = { nofree norecurse nosync nounwind memory(argmem: readwrite) }
attributes #1 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
