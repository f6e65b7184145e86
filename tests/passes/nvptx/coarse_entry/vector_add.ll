; of=4
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, ptr addrspace(1) align 4 %1, ptr addrspace(1) align 4 %2, i32 range(i32 0, -2147483648) %3) #0 {
entry:
  %4 = zext nneg i32 %3 to i64
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %6 = zext nneg i32 %5 to i64
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %8 = zext nneg i32 %7 to i64
  %9 = mul nuw nsw i64 %8, %6
  %10 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %11 = zext nneg i32 %10 to i64
  %12 = add nuw nsw i64 %9, %11
  %13 = icmp samesign ult i64 %12, %4
  br i1 %13, label %b1, label %b2

b1:                                               ; preds = %entry
  %14 = getelementptr inbounds nuw float, ptr addrspace(1) %2, i64 %12
  %15 = getelementptr inbounds nuw float, ptr addrspace(1) %1, i64 %12
  %16 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %12
  %17 = load float, ptr addrspace(1) %16, align 4
  %18 = load float, ptr addrspace(1) %15, align 4
  %19 = fadd contract float %17, %18
  store float %19, ptr addrspace(1) %14, align 4
  br label %b2

b2:                                               ; preds = %b1, %entry
  ret void
}

declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #1

declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
