; opt=3 before=llvm_loops,local_unroll
define ptx_kernel void @k(ptr addrspace(1) align 4 %0) #0 {
entry:
  %a = alloca [12 x i8], align 4
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

b1:                                               ; preds = %b6, %b0
  %9 = phi i32 [ 0, %b0 ], [ %12, %b6 ]
  %10 = zext nneg i32 %9 to i64
  %11 = icmp slt i64 %10, 3
  br i1 %11, label %b2, label %b7

b2:                                               ; preds = %b1
  %12 = add nuw nsw i32 %9, 1
  %13 = zext nneg i32 %12 to i64
  br label %b3

b3:                                               ; preds = %b5, %b2
  %14 = phi i32 [ %9, %b2 ], [ %35, %b5 ]
  %15 = zext nneg i32 %14 to i64
  %16 = icmp sgt i64 %15, 0
  br i1 %16, label %b4, label %b6

b4:                                               ; preds = %b3
  %17 = sub nuw nsw i32 %14, 1
  %18 = zext nneg i32 %17 to i64
  %19 = sext i32 %14 to i64
  %20 = getelementptr float, ptr %a, i64 %19
  %21 = getelementptr float, ptr %20, i64 -1
  %22 = load float, ptr %21, align 4
  %23 = sext i32 %9 to i64
  %24 = getelementptr inbounds float, ptr addrspace(1) %0, i64 %23
  %25 = load float, ptr addrspace(1) %24, align 4
  %26 = fcmp ogt float %22, %25
  br i1 %26, label %b5, label %b6

b5:                                               ; preds = %b4
  %27 = sub nuw nsw i32 %14, 1
  %28 = zext nneg i32 %27 to i64
  %29 = sext i32 %14 to i64
  %30 = getelementptr float, ptr %a, i64 %29
  %31 = getelementptr float, ptr %30, i64 -1
  %32 = load float, ptr %31, align 4
  %33 = sext i32 %14 to i64
  %34 = getelementptr inbounds float, ptr %a, i64 %33
  store float %32, ptr %34, align 4
  %35 = sub nsw i32 %14, 1
  %36 = sext i32 %35 to i64
  br label %b3

b6:                                               ; preds = %b4, %b3
  %37 = sext i32 %9 to i64
  %38 = getelementptr inbounds float, ptr addrspace(1) %0, i64 %37
  %39 = load float, ptr addrspace(1) %38, align 4
  %40 = sext i32 %14 to i64
  %41 = getelementptr inbounds float, ptr %a, i64 %40
  store float %39, ptr %41, align 4
  br label %b1

b7:                                               ; preds = %b1
  %42 = getelementptr inbounds float, ptr %a, i64 1
  %43 = load float, ptr %42, align 4
  %44 = trunc i64 %8 to i32
  %45 = sext i32 %44 to i64
  %46 = getelementptr inbounds float, ptr addrspace(1) %0, i64 %45
  store float %43, ptr addrspace(1) %46, align 4
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
