; opt=3
; k % 3, of k that starts at 1: a phi of its own.
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
  %17 = icmp slt i32 1, %6
  br i1 %16, label %b11.preheader, label %b1.preheader

b1.preheader:                                     ; preds = %entry
  br i1 %17, label %b2, label %b7

b11.preheader:                                    ; preds = %entry
  br i1 %17, label %b16, label %b7

b16:                                              ; preds = %b11.preheader, %b12
  %18 = phi i32 [ %20, %b12 ], [ 1, %b11.preheader ]
  %19 = phi i32 [ %27, %b12 ], [ 1, %b11.preheader ]
  %20 = add nuw nsw i32 %18, 1
  %21 = zext nneg i32 %18 to i64
  %22 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %21
  %23 = urem i32 %18, 3
  switch i32 %23, label %b12 [
    i32 0, label %b13
    i32 1, label %b15
  ]

b13:                                              ; preds = %b16
  %24 = load i32, ptr addrspace(1) %22, align 4, !llvm.mem.parallel_loop_access !0
  %25 = mul i32 %24, %19
  %26 = add i32 %25, 1
  br label %b12

b15:                                              ; preds = %b16
  store i32 %19, ptr addrspace(1) %22, align 4, !llvm.mem.parallel_loop_access !0
  br label %b12

b12:                                              ; preds = %b16, %b15, %b13
  %27 = phi i32 [ %26, %b13 ], [ %19, %b16 ], [ %19, %b15 ]
  %28 = getelementptr inbounds nuw i32, ptr addrspace(1) %3, i64 %21
  store i32 %27, ptr addrspace(1) %28, align 4, !llvm.mem.parallel_loop_access !0
  %exitcond2 = icmp ne i32 %20, %6
  br i1 %exitcond2, label %b16, label %b7, !llvm.loop !1

b2:                                               ; preds = %b1.preheader, %b6
  %29 = phi i32 [ %31, %b6 ], [ 1, %b1.preheader ]
  %30 = phi i32 [ %38, %b6 ], [ 1, %b1.preheader ]
  %31 = add nuw nsw i32 %29, 1
  %32 = zext nneg i32 %29 to i64
  %33 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %32
  %34 = urem i32 %29, 3
  switch i32 %34, label %b6 [
    i32 0, label %b3
    i32 1, label %b5
  ]

b3:                                               ; preds = %b2
  %35 = load i32, ptr addrspace(1) %33, align 4
  %36 = mul i32 %35, %30
  %37 = add i32 %36, 1
  br label %b6

b5:                                               ; preds = %b2
  store i32 %30, ptr addrspace(1) %33, align 4
  br label %b6

b6:                                               ; preds = %b2, %b5, %b3
  %38 = phi i32 [ %37, %b3 ], [ %30, %b2 ], [ %30, %b5 ]
  %39 = getelementptr inbounds nuw i32, ptr addrspace(1) %3, i64 %32
  store i32 %38, ptr addrspace(1) %39, align 4
  %exitcond = icmp ne i32 %31, %6
  br i1 %exitcond, label %b2, label %b7, !llvm.loop !8

b7:                                               ; preds = %b1.preheader, %b6, %b11.preheader, %b12
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
