; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 8 %0, i32 range(i32 0, -2147483648) %1, i32 range(i32 0, -2147483648) %2, ptr addrspace(1) align 8 %3, i32 range(i32 0, -2147483648) %4, ptr addrspace(1) align 8 %5, i32 range(i32 0, -2147483648) %6) #0 {
entry:
  %7 = zext nneg i32 %2 to i64
  %8 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %9 = zext nneg i32 %8 to i64
  %10 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %11 = zext nneg i32 %10 to i64
  %12 = mul nuw nsw i64 %11, %9
  %13 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %14 = zext nneg i32 %13 to i64
  %15 = add nuw nsw i64 %12, %14
  %16 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %17 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %18 = mul nuw nsw i32 %17, %16
  %19 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %20 = add nuw nsw i32 %18, %19
  %21 = icmp ne i32 %20, 0
  %22 = add nsw i32 %1, -1
  %23 = icmp slt i32 %20, %22
  %or.cond = select i1 %21, i1 %23, i1 false
  %24 = icmp samesign ult i64 %15, %7
  %or.cond3 = select i1 %or.cond, i1 %24, i1 false
  br i1 %or.cond3, label %b3, label %b4

b3:                                               ; preds = %entry
  %25 = add nsw i32 %20, -1
  %26 = trunc nuw nsw i64 %15 to i32
  %27 = mul nsw i32 %2, %25
  %28 = add nuw nsw i32 %27, %26
  %29 = zext nneg i32 %28 to i64
  %30 = getelementptr inbounds nuw double, ptr addrspace(1) %0, i64 %29
  %31 = load double, ptr addrspace(1) %30, align 8
  %32 = add nuw nsw i32 %20, 1
  %33 = mul nuw nsw i32 %2, %32
  %34 = add nuw nsw i32 %33, %26
  %35 = zext nneg i32 %34 to i64
  %36 = getelementptr inbounds nuw double, ptr addrspace(1) %0, i64 %35
  %37 = load double, ptr addrspace(1) %36, align 8
  %38 = fadd contract double %31, %37
  %39 = mul nuw nsw i32 %4, %20
  %40 = add nuw nsw i32 %39, %26
  %41 = zext nneg i32 %40 to i64
  %42 = getelementptr inbounds nuw double, ptr addrspace(1) %3, i64 %41
  %43 = load double, ptr addrspace(1) %42, align 8
  %44 = fadd contract double %38, %43
  %45 = mul nuw nsw i32 %6, %20
  %46 = add nuw nsw i32 %45, %26
  %47 = zext nneg i32 %46 to i64
  %48 = getelementptr inbounds nuw double, ptr addrspace(1) %5, i64 %47
  store double %44, ptr addrspace(1) %48, align 8
  br label %b4

b4:                                               ; preds = %b3, %entry
  ret void
}

declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #1

declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.y() #1

declare noundef range(i32 0, 65535) i32 @llvm.nvvm.read.ptx.sreg.ctaid.y() #1

declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.y() #1

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
