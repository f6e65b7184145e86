; opt=3 before=llvm_loops
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, i32 range(i32 0, -2147483648) %1) #0 {
entry:
  %a = alloca [12 x i8], align 4
  %2 = zext nneg i32 %1 to i64
  br label %b0

b0:                                               ; preds = %entry
  %3 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %4 = zext nneg i32 %3 to i64
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %6 = zext nneg i32 %5 to i64
  %7 = mul nsw i64 %6, %4
  %8 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %9 = zext nneg i32 %8 to i64
  %10 = add nsw i64 %7, %9
  %11 = sub i64 %10, 1
  %12 = add i64 %10, 2
  br label %b1

b1:                                               ; preds = %b2, %b0
  %13 = phi i64 [ 0, %b0 ], [ %27, %b2 ]
  %14 = phi i64 [ %11, %b0 ], [ %16, %b2 ]
  %15 = icmp slt i64 %14, %12
  br i1 %15, label %b2, label %b3

b2:                                               ; preds = %b1
  %16 = add nsw i64 %14, 1
  %17 = icmp slt i64 %14, 0
  %18 = add i64 %14, %2
  %19 = select i1 %17, i64 %18, i64 %14
  %20 = trunc i64 %19 to i32
  %21 = sext i32 %20 to i64
  %22 = getelementptr inbounds float, ptr addrspace(1) %0, i64 %21
  %23 = load float, ptr addrspace(1) %22, align 4
  %24 = trunc i64 %13 to i32
  %25 = sext i32 %24 to i64
  %26 = getelementptr inbounds float, ptr %a, i64 %25
  store float %23, ptr %26, align 4
  %27 = add i64 %13, 1
  br label %b1, !llvm.loop !0

b3:                                               ; preds = %b1
  %28 = getelementptr inbounds float, ptr %a, i64 2
  %29 = load float, ptr %28, align 4
  %30 = trunc i64 %10 to i32
  %31 = sext i32 %30 to i64
  %32 = getelementptr inbounds float, ptr addrspace(1) %0, i64 %31
  store float %29, ptr addrspace(1) %32, align 4
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
