; opt=3
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

b1:                                               ; preds = %b3, %b0
  %9 = phi i32 [ 0, %b0 ], [ %12, %b3 ]
  %10 = zext nneg i32 %9 to i64
  %11 = icmp slt i64 %10, 3
  br i1 %11, label %b2, label %b5

b2:                                               ; preds = %b1
  %12 = add nuw nsw i32 %9, 1
  %13 = zext nneg i32 %12 to i64
  br label %b3

b3:                                               ; preds = %b4, %b2
  %14 = phi i32 [ 0, %b2 ], [ %17, %b4 ]
  %15 = zext nneg i32 %14 to i64
  %16 = icmp slt i64 %15, %10
  br i1 %16, label %b4, label %b1

b4:                                               ; preds = %b3
  %17 = add nuw nsw i32 %14, 1
  %18 = zext nneg i32 %17 to i64
  %19 = sext i32 %9 to i64
  %20 = getelementptr inbounds float, ptr addrspace(1) %0, i64 %19
  %21 = load float, ptr addrspace(1) %20, align 4
  %22 = sub nsw i32 %9, 1
  %23 = sext i32 %22 to i64
  %24 = sext i32 %9 to i64
  %25 = getelementptr float, ptr %a, i64 %24
  %26 = getelementptr float, ptr %25, i64 -1
  %27 = load float, ptr %26, align 4
  %28 = fadd contract float %21, %27
  %29 = sext i32 %14 to i64
  %30 = getelementptr inbounds float, ptr %a, i64 %29
  store float %28, ptr %30, align 4
  br label %b3, !llvm.loop !0

b5:                                               ; preds = %b1
  %31 = getelementptr inbounds float, ptr %a, i64 1
  %32 = load float, ptr %31, align 4
  %33 = trunc i64 %8 to i32
  %34 = sext i32 %33 to i64
  %35 = getelementptr inbounds float, ptr addrspace(1) %0, i64 %34
  store float %32, ptr addrspace(1) %35, align 4
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
