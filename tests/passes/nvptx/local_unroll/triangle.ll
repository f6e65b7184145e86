; opt=3 before=llvm_loops
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

b1:                                               ; preds = %b2, %b0
  %9 = phi i32 [ 0, %b0 ], [ %12, %b2 ]
  %10 = zext nneg i32 %9 to i64
  %11 = icmp slt i64 %10, 3
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
  br label %b4

b4:                                               ; preds = %b6, %b3
  %19 = phi i32 [ 0, %b3 ], [ %22, %b6 ]
  %20 = zext nneg i32 %19 to i64
  %21 = icmp slt i64 %20, 3
  br i1 %21, label %b5, label %b8

b5:                                               ; preds = %b4
  %22 = add nuw nsw i32 %19, 1
  %23 = zext nneg i32 %22 to i64
  br label %b6

b6:                                               ; preds = %b7, %b5
  %24 = phi i32 [ 0, %b5 ], [ %27, %b7 ]
  %25 = zext nneg i32 %24 to i64
  %26 = icmp slt i64 %25, %20
  br i1 %26, label %b7, label %b4

b7:                                               ; preds = %b6
  %27 = add nuw nsw i32 %24, 1
  %28 = zext nneg i32 %27 to i64
  %29 = sext i32 %19 to i64
  %30 = getelementptr inbounds float, ptr %a, i64 %29
  %31 = load float, ptr %30, align 4
  %32 = sext i32 %24 to i64
  %33 = getelementptr inbounds float, ptr %a, i64 %32
  %34 = load float, ptr %33, align 4
  %35 = fsub contract float %31, %34
  %36 = sext i32 %19 to i64
  %37 = getelementptr inbounds float, ptr %a, i64 %36
  store float %35, ptr %37, align 4
  br label %b6, !llvm.loop !0

b8:                                               ; preds = %b4
  %38 = getelementptr inbounds float, ptr %a, i64 2
  %39 = load float, ptr %38, align 4
  %40 = trunc i64 %8 to i32
  %41 = sext i32 %40 to i64
  %42 = getelementptr inbounds float, ptr addrspace(1) %0, i64 %41
  store float %39, ptr addrspace(1) %42, align 4
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

!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.count", i32 8}
