; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 4 %0) #0 {
entry:
  %a = alloca [24 x i8], align 4
  br label %b0

b0:                                               ; preds = %entry
  %1 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %2 = zext nneg i32 %1 to i64
  %3 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %4 = zext nneg i32 %3 to i64
  %5 = mul nsw i64 %4, %2
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %7 = zext nneg i32 %6 to i64
  %8 = add nsw i64 %5, %7
  %9 = getelementptr inbounds float, ptr addrspace(1) %0, i64 0
  %10 = load float, ptr addrspace(1) %9, align 4
  %11 = getelementptr inbounds float, ptr %a, i64 4
  store float %10, ptr %11, align 4
  %12 = trunc i64 %8 to i32
  %13 = sext i32 %12 to i64
  %14 = getelementptr inbounds float, ptr addrspace(1) %0, i64 %13
  %15 = load float, ptr addrspace(1) %14, align 4
  %16 = trunc i64 %8 to i32
  %17 = sext i32 %16 to i64
  %18 = getelementptr inbounds float, ptr %a, i64 %17
  store float %15, ptr %18, align 4
  %19 = getelementptr inbounds float, ptr %a, i64 4
  %20 = load float, ptr %19, align 4
  %21 = trunc i64 %8 to i32
  %22 = sext i32 %21 to i64
  %23 = getelementptr inbounds float, ptr addrspace(1) %0, i64 %22
  store float %20, ptr addrspace(1) %23, align 4
  ret void
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
