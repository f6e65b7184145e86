; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, i32 %1) #0 {
entry:
  br label %b0

b0:                                               ; preds = %entry
  %2 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %3 = zext nneg i32 %2 to i64
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %5 = zext nneg i32 %4 to i64
  %6 = mul nsw i64 %5, %3
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %8 = zext nneg i32 %7 to i64
  %9 = add nsw i64 %6, %8
  %10 = sext i32 %1 to i64
  %11 = icmp slt i64 %9, %10
  br i1 %11, label %b1, label %b2

b1:                                               ; preds = %b0
  %12 = trunc i64 %9 to i32
  %13 = sext i32 %12 to i64
  %14 = getelementptr inbounds float, ptr addrspace(1) %0, i64 %13
  %15 = load float, ptr addrspace(1) %14, align 4
  %16 = fadd contract float %15, 1.000000e+00
  %17 = trunc i64 %9 to i32
  %18 = sext i32 %17 to i64
  %19 = getelementptr inbounds float, ptr addrspace(1) %0, i64 %18
  store float %16, ptr addrspace(1) %19, align 4
  br label %b2

b2:                                               ; preds = %b1, %b0
  ret void
}

declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #1

declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
