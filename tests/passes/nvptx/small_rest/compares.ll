; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 1 %0, i32 noundef range(i32 0, -2147483648) %1, ptr addrspace(1) align 4 %2, ptr addrspace(1) align 4 %3, ptr addrspace(1) align 4 %4, i32 noundef range(i32 0, -2147483648) %5) #0 {
entry:
  %6 = zext nneg i32 %1 to i64
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %8 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %9 = mul nuw nsw i32 %8, %7
  %10 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %11 = add nuw nsw i32 %9, %10
  %.not = icmp samesign ult i32 %11, %5
  br i1 %.not, label %b1, label %b12

b1:                                               ; preds = %entry
  %12 = zext nneg i32 %11 to i64
  %13 = getelementptr inbounds nuw float, ptr addrspace(1) %2, i64 %12
  %14 = load volatile float, ptr addrspace(1) %13, align 4
  %15 = getelementptr inbounds nuw float, ptr addrspace(1) %3, i64 %12
  %16 = load float, ptr addrspace(1) %15, align 4
  %17 = fcmp ogt float %16, 0.000000e+00
  %18 = select i1 %17, i32 1, i32 -1
  %19 = call i32 @llvm.nvvm.f2i.rz(float %14)
  %20 = icmp ult i32 %19, %1
  br i1 %20, label %b7, label %b11

b7:                                               ; preds = %b1, %b8
  %21 = phi i32 [ %31, %b8 ], [ %19, %b1 ]
  %22 = phi i32 [ %33, %b8 ], [ 0, %b1 ]
  %23 = sext i32 %21 to i64
  %24 = getelementptr inbounds i8, ptr addrspace(1) %0, i64 %23
  %25 = load volatile i8, ptr addrspace(1) %24, align 1, !pyptx.in_range !0
  %.not1 = icmp eq i8 %25, 0
  br i1 %.not1, label %b8, label %b11

b8:                                               ; preds = %b7
  %26 = lshr i64 %23, 1
  %27 = getelementptr inbounds nuw i8, ptr addrspace(1) %0, i64 %26
  %28 = load i8, ptr addrspace(1) %27, align 1
  %29 = icmp ult i8 %28, 9
  %30 = select i1 %29, i32 %18, i32 0
  %31 = add i32 %30, %21
  %32 = sext i32 %31 to i64
  %33 = add i32 %22, 1
  %34 = icmp sgt i64 %32, -1
  %35 = icmp slt i64 %32, %6
  %or.cond = select i1 %34, i1 %35, i1 false
  br i1 %or.cond, label %b7, label %b11

b11:                                              ; preds = %b8, %b7, %b1
  %.lcssa = phi i32 [ 0, %b1 ], [ %33, %b8 ], [ %22, %b7 ]
  %36 = getelementptr inbounds nuw i32, ptr addrspace(1) %4, i64 %12
  store i32 %.lcssa, ptr addrspace(1) %36, align 4
  br label %b12

b12:                                              ; preds = %b11, %entry
  ret void
}

declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #1

declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

declare i64 @llvm.nvvm.f2ll.rz(float) #1

declare i32 @llvm.nvvm.f2i.rz(float) #1

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }

!0 = !{}
