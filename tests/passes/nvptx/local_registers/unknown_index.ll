; opt=3 before=llvm_loops,local_unroll
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
  br label %b1

b1:                                               ; preds = %b2, %b0
  %9 = phi i32 [ 0, %b0 ], [ %12, %b2 ]
  %10 = zext nneg i32 %9 to i64
  %11 = icmp slt i64 %10, 6
  br i1 %11, label %b2, label %b3

b2:                                               ; preds = %b1
  %12 = add nuw nsw i32 %9, 1
  %13 = zext nneg i32 %12 to i64
  %14 = sext i32 %9 to i64
  %15 = getelementptr inbounds float, ptr addrspace(1) %0, i64 %14
  %16 = load float, ptr addrspace(1) %15, align 4
  %17 = sext i32 %9 to i64
  %18 = getelementptr inbounds float, ptr %a, i64 %17
  store float %16, ptr %18, align 4
  br label %b1

b3:                                               ; preds = %b1
  %19 = and i64 %8, 7
  %20 = trunc i64 %19 to i32
  %21 = sext i32 %20 to i64
  %22 = getelementptr inbounds float, ptr %a, i64 %21
  %23 = load float, ptr %22, align 4
  %24 = trunc i64 %8 to i32
  %25 = sext i32 %24 to i64
  %26 = getelementptr inbounds float, ptr addrspace(1) %0, i64 %25
  store float %23, ptr addrspace(1) %26, align 4
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
