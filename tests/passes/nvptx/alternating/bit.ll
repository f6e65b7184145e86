; opt=3
; k % 2 of a counter that starts at 3, by steps of 3: LLVM knows the low bits of even starts alone.
define ptx_kernel void @k(ptr addrspace(1) noalias align 4 %0, i32 noundef range(i32 0, -2147483648) %1, i64 %2, ptr addrspace(1) noalias align 4 %3, i32 noundef range(i32 0, -2147483648) %4) #0 {
entry:
  %5 = zext nneg i32 %1 to i64
  %6 = trunc i64 %2 to i32
  %7 = zext nneg i32 %4 to i64
  %8 = ptrtoint ptr addrspace(1) %3 to i64
  %9 = mul nuw nsw i64 %7, 4
  %10 = add i64 %9, %8
  %11 = ptrtoint ptr addrspace(1) %0 to i64
  %12 = mul nuw nsw i64 %5, 4
  %13 = add i64 %12, %11
  %14 = icmp sle i64 %10, %11
  %15 = icmp sle i64 %13, %8
  %16 = or i1 %15, %14
  %17 = icmp slt i32 3, %6
  br i1 %16, label %b9.preheader, label %b1.preheader

b1.preheader:                                     ; preds = %entry
  br i1 %17, label %b2, label %b5

b9.preheader:                                     ; preds = %entry
  br i1 %17, label %b11, label %b5

b11:                                              ; preds = %b9.preheader, %b11
  %18 = phi i32 [ %20, %b11 ], [ 3, %b9.preheader ]
  %19 = phi i32 [ %27, %b11 ], [ 1, %b9.preheader ]
  %20 = add nuw nsw i32 %18, 3
  %21 = zext nneg i32 %18 to i64
  %22 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %21
  %23 = load i32, ptr addrspace(1) %22, align 4, !llvm.mem.parallel_loop_access !0
  %24 = and i32 %18, 1
  %.not1 = icmp eq i32 %24, 0
  %25 = mul i32 %23, %19
  %26 = add i32 %25, 1
  %27 = select i1 %.not1, i32 %19, i32 %26
  %28 = getelementptr inbounds nuw i32, ptr addrspace(1) %3, i64 %21
  store i32 %27, ptr addrspace(1) %28, align 4, !llvm.mem.parallel_loop_access !0
  %29 = icmp slt i32 %20, %6
  br i1 %29, label %b11, label %b5, !llvm.loop !1

b2:                                               ; preds = %b1.preheader, %b2
  %30 = phi i32 [ %32, %b2 ], [ 3, %b1.preheader ]
  %31 = phi i32 [ %39, %b2 ], [ 1, %b1.preheader ]
  %32 = add nuw nsw i32 %30, 3
  %33 = zext nneg i32 %30 to i64
  %34 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %33
  %35 = load i32, ptr addrspace(1) %34, align 4
  %36 = and i32 %30, 1
  %.not = icmp eq i32 %36, 0
  %37 = mul i32 %35, %31
  %38 = add i32 %37, 1
  %39 = select i1 %.not, i32 %31, i32 %38
  %40 = getelementptr inbounds nuw i32, ptr addrspace(1) %3, i64 %33
  store i32 %39, ptr addrspace(1) %40, align 4
  %41 = icmp slt i32 %32, %6
  br i1 %41, label %b2, label %b5, !llvm.loop !8

b5:                                               ; preds = %b1.preheader, %b2, %b9.preheader, %b11
  ret void
}

attributes #0 = { nounwind }

!0 = !{}
!1 = distinct !{!1, !2, !3, !6}
!2 = !{!"llvm.loop.unroll.count", i32 8}
!3 = !{!"llvm.loop.unroll.followup_remainder", !4, !5}
!4 = !{!"llvm.loop.unroll.disable"}
!5 = !{!"pyptx.rest", i32 7}
!6 = !{!"llvm.loop.unroll.followup_unrolled", !4, !7}
!7 = !{!"pyptx.unrolled", i32 8}
!8 = distinct !{!8, !4}
