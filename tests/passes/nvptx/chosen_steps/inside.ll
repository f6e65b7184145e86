; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, ptr addrspace(1) align 4 %1, i32 noundef range(i32 0, -2147483648) %2) #0 {
entry:
  %3 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %5 = mul nuw nsw i32 %4, %3
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %7 = add nuw nsw i32 %5, %6
  %.not = icmp samesign ult i32 %7, %2
  br i1 %.not, label %b3, label %b8

b3:                                               ; preds = %entry, %b3.3
  %8 = phi i32 [ %39, %b3.3 ], [ 0, %entry ]
  %9 = and i32 %8, 3
  %10 = sext i32 %9 to i64
  %11 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %10
  %12 = load i32, ptr addrspace(1) %11, align 4
  %13 = icmp sgt i32 %12, %7
  %14 = select i1 %13, i32 1, i32 -1
  %15 = add i32 %14, %8
  %16 = icmp slt i32 %15, 100
  br i1 %16, label %b3.1, label %b7, !llvm.loop !0

b3.1:                                             ; preds = %b3
  %17 = and i32 %15, 3
  %18 = sext i32 %17 to i64
  %19 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %18
  %20 = load i32, ptr addrspace(1) %19, align 4
  %21 = icmp sgt i32 %20, %7
  %22 = select i1 %21, i32 1, i32 -1
  %23 = add i32 %22, %15
  %24 = icmp slt i32 %23, 100
  br i1 %24, label %b3.2, label %b7, !llvm.loop !0

b3.2:                                             ; preds = %b3.1
  %25 = and i32 %23, 3
  %26 = sext i32 %25 to i64
  %27 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %26
  %28 = load i32, ptr addrspace(1) %27, align 4
  %29 = icmp sgt i32 %28, %7
  %30 = select i1 %29, i32 1, i32 -1
  %31 = add i32 %30, %23
  %32 = icmp slt i32 %31, 100
  br i1 %32, label %b3.3, label %b7, !llvm.loop !0

b3.3:                                             ; preds = %b3.2
  %33 = and i32 %31, 3
  %34 = sext i32 %33 to i64
  %35 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %34
  %36 = load i32, ptr addrspace(1) %35, align 4
  %37 = icmp sgt i32 %36, %7
  %38 = select i1 %37, i32 1, i32 -1
  %39 = add i32 %38, %31
  %40 = icmp slt i32 %39, 100
  br i1 %40, label %b3, label %b7, !llvm.loop !7

b7:                                               ; preds = %b3.3, %b3.2, %b3.1, %b3
  %.lcssa = phi i32 [ %15, %b3 ], [ %23, %b3.1 ], [ %31, %b3.2 ], [ %39, %b3.3 ]
  %41 = sext i32 %7 to i64
  %42 = getelementptr inbounds nuw i32, ptr addrspace(1) %1, i64 %41
  store i32 %.lcssa, ptr addrspace(1) %42, align 4
  br label %b8

b8:                                               ; preds = %b7, %entry
  ret void
}

declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #1

declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }

!0 = distinct !{!0, !1, !2, !5}
!1 = !{!"llvm.loop.unroll.count", i32 4}
!2 = !{!"llvm.loop.unroll.followup_remainder", !3, !4}
!3 = !{!"llvm.loop.unroll.disable"}
!4 = !{!"pyptx.rest", i32 3}
!5 = !{!"llvm.loop.unroll.followup_unrolled", !3, !6}
!6 = !{!"pyptx.unrolled", i32 4}
!7 = distinct !{!7, !3, !6}
