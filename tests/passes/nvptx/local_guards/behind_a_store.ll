; opt=3 before=llvm_loops
define ptx_kernel void @k(ptr addrspace(1) align 1 %0, i32 range(i32 0, -2147483648) %1, ptr addrspace(1) align 1 %2, i32 range(i32 0, -2147483648) %3, ptr addrspace(1) align 4 %4, i32 range(i32 0, -2147483648) %5) {
entry:
  %row = alloca [260 x i8], align 4
  %6 = zext nneg i32 %5 to i64
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %8 = zext nneg i32 %7 to i64
  %9 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %10 = zext nneg i32 %9 to i64
  %11 = mul nuw nsw i64 %10, %8
  %12 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %13 = zext nneg i32 %12 to i64
  %14 = add nuw nsw i64 %11, %13
  %15 = icmp samesign ult i64 %14, %6
  br i1 %15, label %b1, label %b13

b1:                                               ; preds = %entry
  %16 = add nuw i32 %3, 1
  br label %b3

b5.preheader:                                     ; preds = %b3
  %17 = icmp samesign ult i32 0, %1
  br i1 %17, label %b6.lr.ph, label %b12

b6.lr.ph:                                         ; preds = %b5.preheader
  %18 = icmp samesign ult i32 0, %3
  %19 = trunc i64 %14 to i32
  %20 = mul nsw i32 %19, %1
  %21 = mul nsw i32 %3, %19
  br label %b6

b3:                                               ; preds = %b1, %b3
  %22 = phi i32 [ 0, %b1 ], [ %23, %b3 ]
  %23 = add nuw nsw i32 %22, 1
  %24 = zext nneg i32 %22 to i64
  %25 = getelementptr inbounds nuw i32, ptr %row, i64 %24
  store i32 0, ptr %25, align 4
  %exitcond = icmp eq i32 %23, %16
  br i1 %exitcond, label %b5.preheader, label %b3

b7.b5.loopexit_crit_edge:                         ; preds = %b11
  br label %b5.loopexit

b5.loopexit:                                      ; preds = %b7.b5.loopexit_crit_edge, %b6
  %exitcond2 = icmp ne i32 %27, %1
  br i1 %exitcond2, label %b6, label %b5.b12_crit_edge

b6:                                               ; preds = %b6.lr.ph, %b5.loopexit
  %26 = phi i32 [ 0, %b6.lr.ph ], [ %27, %b5.loopexit ]
  %27 = add nuw nsw i32 %26, 1
  br i1 %18, label %b8.lr.ph, label %b5.loopexit

b8.lr.ph:                                         ; preds = %b6
  %28 = add nsw i32 %26, %20
  %29 = sext i32 %28 to i64
  %30 = getelementptr inbounds i8, ptr addrspace(1) %0, i64 %29
  %31 = load i8, ptr addrspace(1) %30, align 1
  br label %b8

b8:                                               ; preds = %b8.lr.ph, %b11
  %32 = phi i32 [ 0, %b8.lr.ph ], [ %34, %b11 ]
  %33 = phi i32 [ 0, %b8.lr.ph ], [ %38, %b11 ]
  %34 = add nuw nsw i32 %32, 1
  %35 = zext nneg i32 %32 to i64
  %36 = getelementptr i32, ptr %row, i64 %35
  %37 = getelementptr i8, ptr %36, i64 4
  %38 = load i32, ptr %37, align 4
  %39 = add nsw i32 %32, %21
  %40 = sext i32 %39 to i64
  %41 = getelementptr inbounds i8, ptr addrspace(1) %2, i64 %40
  %42 = load i8, ptr addrspace(1) %41, align 1
  %43 = icmp eq i8 %31, %42
  br i1 %43, label %b9, label %b10

b9:                                               ; preds = %b8
  %44 = add i32 %33, 1
  br label %b11

b10:                                              ; preds = %b8
  store i32 %33, ptr %37, align 4
  %45 = load i32, ptr %36, align 4
  %46 = call i32 @llvm.smax.i32(i32 %45, i32 %38)
  br label %b11

b11:                                              ; preds = %b10, %b9
  %storemerge = phi i32 [ %46, %b10 ], [ %44, %b9 ]
  store i32 %storemerge, ptr %37, align 4
  %exitcond1 = icmp ne i32 %34, %3
  br i1 %exitcond1, label %b8, label %b7.b5.loopexit_crit_edge

b5.b12_crit_edge:                                 ; preds = %b5.loopexit
  br label %b12

b12:                                              ; preds = %b5.b12_crit_edge, %b5.preheader
  %47 = zext nneg i32 %3 to i64
  %48 = getelementptr inbounds nuw i32, ptr %row, i64 %47
  %49 = load i32, ptr %48, align 4
  %sext = shl i64 %14, 32
  %50 = ashr exact i64 %sext, 30
  %51 = getelementptr inbounds i8, ptr addrspace(1) %4, i64 %50
  store i32 %49, ptr addrspace(1) %51, align 4
  br label %b13

b13:                                              ; preds = %b12, %entry
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()

declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

declare i32 @llvm.smax.i32(i32, i32)
