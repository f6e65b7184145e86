; opt=3 before=llvm_loops
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, i32 range(i32 0, -2147483648) %1) #0 {
entry:
  %a = alloca [36 x i8], align 4
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
  br label %b1

b1:                                               ; preds = %b2, %b0
  %11 = phi i32 [ 0, %b0 ], [ %14, %b2 ]
  %12 = zext nneg i32 %11 to i64
  %13 = icmp slt i64 %12, %2
  br i1 %13, label %b2, label %b3

b2:                                               ; preds = %b1
  %14 = add nuw i32 %11, 1
  %15 = zext i32 %14 to i64
  %16 = sext i32 %11 to i64
  %17 = getelementptr inbounds float, ptr addrspace(1) %0, i64 %16
  %18 = load float, ptr addrspace(1) %17, align 4
  %19 = sext i32 %11 to i64
  %20 = getelementptr inbounds float, ptr %a, i64 %19
  store float %18, ptr %20, align 4
  br label %b1, !llvm.loop !0

b3:                                               ; preds = %b1
  %21 = getelementptr inbounds float, ptr %a, i64 2
  %22 = load float, ptr %21, align 4
  %23 = trunc i64 %10 to i32
  %24 = sext i32 %23 to i64
  %25 = getelementptr inbounds float, ptr addrspace(1) %0, i64 %24
  store float %22, ptr addrspace(1) %25, align 4
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
