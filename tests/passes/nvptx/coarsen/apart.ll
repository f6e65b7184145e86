; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 8 %0, i32 range(i32 0, -2147483648) %1, ptr addrspace(1) align 4 %2, ptr addrspace(1) align 8 %3, i32 range(i32 0, -2147483648) %4) #0 {
entry:
  %5 = zext nneg i32 %4 to i64
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %7 = zext nneg i32 %6 to i64
  %8 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %9 = zext nneg i32 %8 to i64
  %10 = mul nuw nsw i64 %9, %7
  %11 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %12 = zext nneg i32 %11 to i64
  %13 = add nuw nsw i64 %10, %12
  %14 = icmp samesign ult i64 %13, %5
  br i1 %14, label %b1, label %b4

b1:                                               ; preds = %entry
  %15 = getelementptr inbounds nuw i32, ptr addrspace(1) %2, i64 %13
  %16 = load i32, ptr addrspace(1) %15, align 4
  %17 = icmp sgt i32 %16, -1
  br i1 %17, label %b2, label %b3

b2:                                               ; preds = %b1
  %18 = zext nneg i32 %16 to i64
  %19 = getelementptr inbounds nuw double, ptr addrspace(1) %0, i64 %18
  %20 = load double, ptr addrspace(1) %19, align 8
  %21 = getelementptr inbounds nuw double, ptr addrspace(1) %3, i64 %13
  %22 = load double, ptr addrspace(1) %21, align 8
  %23 = fmul contract double %20, %22
  %24 = add nuw i32 %16, 1
  %25 = sext i32 %24 to i64
  %26 = getelementptr inbounds double, ptr addrspace(1) %0, i64 %25
  %27 = load double, ptr addrspace(1) %26, align 8
  %28 = fadd contract double %23, %27
  br label %b3

b3:                                               ; preds = %b2, %b1
  %29 = phi double [ 0.000000e+00, %b1 ], [ %28, %b2 ]
  %30 = getelementptr inbounds nuw double, ptr addrspace(1) %3, i64 %13
  store double %29, ptr addrspace(1) %30, align 8
  br label %b4

b4:                                               ; preds = %b3, %entry
  ret void
}

declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #1

declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

declare i32 @llvm.umin.i32(i32, i32) #2

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
