; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 8 %0, i64 %1, ptr addrspace(1) align 8 %2, i32 noundef range(i32 0, -2147483648) %3) #0 {
entry:
  %sext = shl i64 %1, 32
  %4 = ashr exact i64 %sext, 32
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %7 = mul nuw nsw i32 %6, %5
  %8 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %9 = add nuw nsw i32 %7, %8
  %.not = icmp samesign ult i32 %9, %3
  br i1 %.not, label %b1, label %b8

b1:                                               ; preds = %entry
  %10 = zext nneg i32 %9 to i64
  %11 = getelementptr inbounds nuw i64, ptr addrspace(1) %0, i64 %10
  %12 = load i64, ptr addrspace(1) %11, align 8
  br label %b2

b2:                                               ; preds = %b3.6, %b1
  %13 = phi i32 [ 0, %b1 ], [ %43, %b3.6 ]
  %14 = phi i64 [ %12, %b1 ], [ %42, %b3.6 ]
  %15 = icmp slt i64 %14, %4
  br i1 %15, label %b3, label %b7

b3:                                               ; preds = %b2
  %16 = icmp sgt i64 %14, 5
  %17 = select i1 %16, i64 1, i64 -1
  %18 = add i64 %17, %14
  %19 = icmp slt i64 %18, %4
  br i1 %19, label %b3.1, label %b7

b3.1:                                             ; preds = %b3
  %20 = icmp sgt i64 %18, 5
  %21 = select i1 %20, i64 1, i64 -1
  %22 = add i64 %21, %18
  %23 = icmp slt i64 %22, %4
  br i1 %23, label %b3.2, label %b7

b3.2:                                             ; preds = %b3.1
  %24 = icmp sgt i64 %22, 5
  %25 = select i1 %24, i64 1, i64 -1
  %26 = add i64 %25, %22
  %27 = icmp slt i64 %26, %4
  br i1 %27, label %b3.3, label %b7

b3.3:                                             ; preds = %b3.2
  %28 = icmp sgt i64 %26, 5
  %29 = select i1 %28, i64 1, i64 -1
  %30 = add i64 %29, %26
  %31 = icmp slt i64 %30, %4
  br i1 %31, label %b3.4, label %b7

b3.4:                                             ; preds = %b3.3
  %32 = icmp sgt i64 %30, 5
  %33 = select i1 %32, i64 1, i64 -1
  %34 = add i64 %33, %30
  %35 = icmp slt i64 %34, %4
  br i1 %35, label %b3.5, label %b7

b3.5:                                             ; preds = %b3.4
  %36 = icmp sgt i64 %34, 5
  %37 = select i1 %36, i64 1, i64 -1
  %38 = add i64 %37, %34
  %39 = icmp slt i64 %38, %4
  br i1 %39, label %b3.6, label %b7

b3.6:                                             ; preds = %b3.5
  %40 = icmp sgt i64 %38, 5
  %41 = select i1 %40, i64 1, i64 -1
  %42 = add i64 %41, %38
  %43 = add nuw nsw i32 %13, 7
  %exitcond.6 = icmp eq i32 %43, 1001
  br i1 %exitcond.6, label %b7, label %b2

b7:                                               ; preds = %b3.6, %b3.5, %b3.4, %b3.3, %b3.2, %b3.1, %b3, %b2
  %44 = phi i64 [ %14, %b2 ], [ %42, %b3.6 ], [ %18, %b3 ], [ %38, %b3.5 ], [ %22, %b3.1 ], [ %30, %b3.3 ], [ %26, %b3.2 ], [ %34, %b3.4 ]
  %45 = getelementptr inbounds nuw i64, ptr addrspace(1) %2, i64 %10
  store i64 %44, ptr addrspace(1) %45, align 8
  br label %b8

b8:                                               ; preds = %b7, %entry
  ret void
}

declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #1

declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
