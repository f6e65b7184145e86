; opt=3
; Unrolled eight times anyway, now six times.
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, i64 %1, ptr addrspace(1) align 4 %2) #0 {
entry:
  %3 = trunc i64 %1 to i32
  %4 = icmp slt i32 0, %3
  br i1 %4, label %b2, label %b10

b2:                                               ; preds = %entry, %b6
  %5 = phi i32 [ %8, %b6 ], [ 0, %entry ]
  %6 = phi i32 [ %20, %b6 ], [ 0, %entry ]
  %7 = phi i32 [ %17, %b6 ], [ 0, %entry ]
  %8 = add nuw nsw i32 %5, 1
  %9 = icmp eq i32 %6, 0
  br i1 %9, label %b3, label %b4

b3:                                               ; preds = %b2
  %10 = zext nneg i32 %5 to i64
  %11 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %10
  %12 = load i32, ptr addrspace(1) %11, align 4
  %13 = add i32 %12, %7
  br label %b6

b4:                                               ; preds = %b2
  %14 = icmp eq i32 %6, 2
  %15 = mul i32 %7, 3
  %16 = select i1 %14, i32 %15, i32 %7
  br label %b6

b6:                                               ; preds = %b4, %b3
  %17 = phi i32 [ %16, %b4 ], [ %13, %b3 ]
  %18 = icmp slt i32 %6, 2
  %19 = add nuw nsw i32 %6, 1
  %20 = select i1 %18, i32 %19, i32 0
  %exitcond = icmp ne i32 %8, %3
  br i1 %exitcond, label %b2, label %b10, !llvm.loop !0

b10:                                              ; preds = %b6, %entry
  %.lcssa = phi i32 [ 0, %entry ], [ %17, %b6 ]
  store i32 %.lcssa, ptr addrspace(1) %2, align 4
  ret void
}

attributes #0 = { nounwind }

!0 = distinct !{!0, !1, !2, !5}
!1 = !{!"llvm.loop.unroll.count", i32 8}
!2 = !{!"llvm.loop.unroll.followup_remainder", !3, !4}
!3 = !{!"llvm.loop.unroll.disable"}
!4 = !{!"pyptx.rest", i32 7}
!5 = !{!"llvm.loop.unroll.followup_unrolled", !3, !6}
!6 = !{!"pyptx.unrolled", i32 8}
