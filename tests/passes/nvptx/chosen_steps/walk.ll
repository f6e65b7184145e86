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
  br i1 %.not, label %b1, label %b10

b1:                                               ; preds = %entry
  %12 = sext i32 %11 to i64
  %13 = getelementptr inbounds nuw float, ptr addrspace(1) %2, i64 %12
  %14 = load float, ptr addrspace(1) %13, align 4
  %15 = call i64 @llvm.nvvm.f2ll.rz(float %14)
  %16 = trunc i64 %15 to i32
  %17 = getelementptr inbounds nuw float, ptr addrspace(1) %3, i64 %12
  %18 = load float, ptr addrspace(1) %17, align 4
  %19 = fcmp ogt float %18, 0.000000e+00
  %20 = select i1 %19, i32 1, i32 -1
  %21 = call i32 @llvm.nvvm.f2i.rz(float %14)
  %22 = icmp ult i32 %21, %1
  br i1 %22, label %b7, label %b9

b7:                                               ; preds = %b1, %b8
  %23 = phi i32 [ %27, %b8 ], [ %21, %b1 ]
  %24 = sext i32 %23 to i64
  %25 = getelementptr inbounds i8, ptr addrspace(1) %0, i64 %24
  %26 = load i8, ptr addrspace(1) %25, align 1, !pyptx.in_range !0
  %.not1 = icmp eq i8 %26, 0
  br i1 %.not1, label %b8, label %b9

b8:                                               ; preds = %b7
  %27 = add nsw i32 %23, %20
  %28 = sext i32 %27 to i64
  %29 = icmp sgt i32 %27, -1
  %30 = icmp slt i32 %27, %1
  %or.cond = select i1 %29, i1 %30, i1 false
  br i1 %or.cond, label %b7, label %b9

b9:                                               ; preds = %b8, %b7, %b1
  %31 = phi i32 [ %16, %b1 ], [ %27, %b8 ], [ %23, %b7 ]
  %32 = getelementptr inbounds nuw i32, ptr addrspace(1) %4, i64 %12
  store i32 %31, ptr addrspace(1) %32, align 4
  br label %b10

b10:                                              ; preds = %b9, %entry
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
