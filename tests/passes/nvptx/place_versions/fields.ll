; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 1 %0, i32 noundef range(i32 0, -2147483648) %1, ptr addrspace(1) align 4 %2, ptr addrspace(1) align 4 %3, i32 noundef range(i32 0, -2147483648) %4) #0 {
entry:
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %7 = mul nuw nsw i32 %6, %5
  %8 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %9 = add nuw nsw i32 %7, %8
  %.not = icmp samesign ult i32 %9, %4
  br i1 %.not, label %b1, label %b6

b1:                                               ; preds = %entry
  %10 = zext nneg i32 %9 to i64
  %11 = getelementptr inbounds nuw i32, ptr addrspace(1) %2, i64 %10
  %12 = load i32, ptr addrspace(1) %11, align 4
  %13 = add i32 %12, %1
  %14 = call i32 @llvm.umin.i32(i32 %12, i32 %13)
  %15 = sext i32 %14 to i64
  %16 = getelementptr inbounds i8, ptr addrspace(1) %0, i64 %15
  %17 = load i8, ptr addrspace(1) %16, align 1, !pyptx.in_range !0
  %18 = zext i8 %17 to i32
  %19 = mul nuw nsw i32 %18, 10
  %20 = add i32 %12, 1
  %21 = add i32 %20, %1
  %22 = call i32 @llvm.umin.i32(i32 %20, i32 %21)
  %23 = sext i32 %22 to i64
  %24 = getelementptr inbounds i8, ptr addrspace(1) %0, i64 %23
  %25 = load i8, ptr addrspace(1) %24, align 1, !pyptx.in_range !0
  %26 = zext i8 %25 to i32
  %27 = add nuw nsw i32 %19, %26
  %28 = add i32 %12, 2
  %29 = add i32 %28, %1
  %30 = call i32 @llvm.umin.i32(i32 %28, i32 %29)
  %31 = sext i32 %30 to i64
  %32 = getelementptr inbounds i8, ptr addrspace(1) %0, i64 %31
  %33 = load i8, ptr addrspace(1) %32, align 1, !pyptx.in_range !0
  %.not1 = icmp eq i8 %33, 45
  br i1 %.not1, label %b3, label %b5

b3:                                               ; preds = %b1
  %34 = add i32 %12, 3
  %35 = add i32 %34, %1
  %36 = call i32 @llvm.umin.i32(i32 %34, i32 %35)
  %37 = sext i32 %36 to i64
  %38 = getelementptr inbounds i8, ptr addrspace(1) %0, i64 %37
  %39 = load i8, ptr addrspace(1) %38, align 1, !pyptx.in_range !0
  %40 = icmp ugt i8 %39, 47
  br i1 %40, label %b4, label %b5

b4:                                               ; preds = %b3
  %41 = add i32 %12, 4
  %42 = add i32 %41, %1
  %43 = call i32 @llvm.umin.i32(i32 %41, i32 %42)
  %44 = sext i32 %43 to i64
  %45 = getelementptr inbounds i8, ptr addrspace(1) %0, i64 %44
  %46 = load i8, ptr addrspace(1) %45, align 1, !pyptx.in_range !0
  %47 = add i32 %12, 5
  %48 = add i32 %47, %1
  %49 = call i32 @llvm.umin.i32(i32 %47, i32 %48)
  %50 = sext i32 %49 to i64
  %51 = getelementptr inbounds i8, ptr addrspace(1) %0, i64 %50
  %52 = load i8, ptr addrspace(1) %51, align 1, !pyptx.in_range !0
  %53 = zext i8 %46 to i32
  %54 = zext i8 %52 to i32
  %55 = add nuw nsw i32 %27, %53
  %56 = sub nsw i32 %55, %54
  br label %b5

b5:                                               ; preds = %b1, %b4, %b3
  %57 = phi i32 [ %56, %b4 ], [ %27, %b3 ], [ -1, %b1 ]
  %58 = getelementptr inbounds nuw i32, ptr addrspace(1) %3, i64 %10
  store i32 %57, ptr addrspace(1) %58, align 4
  br label %b6

b6:                                               ; preds = %b5, %entry
  ret void
}

declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #1

declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

declare i32 @llvm.umin.i32(i32, i32) #2

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }

!0 = !{}
