; opt=3
; One that comes back after two iterations, one after three: neither.
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, i32 noundef range(i32 0, -2147483648) %1, i64 %2, ptr addrspace(1) align 4 %3) #0 {
entry:
  %4 = trunc i64 %2 to i32
  %5 = icmp slt i32 0, %4
  br i1 %5, label %b2, label %b10

b2:                                               ; preds = %entry, %b4
  %6 = phi i32 [ %27, %b4 ], [ 0, %entry ]
  %7 = phi i32 [ %23, %b4 ], [ 0, %entry ]
  %8 = phi i32 [ %20, %b4 ], [ 0, %entry ]
  %9 = phi i32 [ %24, %b4 ], [ 0, %entry ]
  %10 = icmp eq i32 %7, 0
  %11 = add i32 %6, %1
  %12 = call i32 @llvm.umin.i32(i32 %6, i32 %11)
  %13 = sext i32 %12 to i64
  br i1 %10, label %b3, label %b4

b3:                                               ; preds = %b2
  %14 = getelementptr inbounds i32, ptr addrspace(1) %0, i64 %13
  %15 = load i32, ptr addrspace(1) %14, align 4, !pyptx.in_range !0
  %16 = add i32 %15, %8
  br label %b4

b4:                                               ; preds = %b2, %b3
  %.pre-phi4 = phi i64 [ %13, %b3 ], [ %13, %b2 ]
  %.pre-phi2 = phi i32 [ %12, %b3 ], [ %12, %b2 ]
  %.pre-phi = phi i32 [ %11, %b3 ], [ %11, %b2 ]
  %17 = phi i32 [ %16, %b3 ], [ %8, %b2 ]
  %18 = icmp eq i32 %9, 0
  %19 = mul i32 %17, 3
  %20 = select i1 %18, i32 %19, i32 %17
  %21 = icmp slt i32 %7, 2
  %22 = add nuw nsw i32 %7, 1
  %23 = select i1 %21, i32 %22, i32 0
  %24 = xor i32 %9, 1
  %25 = getelementptr inbounds i32, ptr addrspace(1) %0, i64 %.pre-phi4
  %26 = load i32, ptr addrspace(1) %25, align 4, !pyptx.in_range !0
  %27 = add i32 %26, %6
  %28 = icmp slt i32 %27, %4
  br i1 %28, label %b2, label %b10

b10:                                              ; preds = %b4, %entry
  %.lcssa = phi i32 [ 0, %entry ], [ %20, %b4 ]
  store i32 %.lcssa, ptr addrspace(1) %3, align 4
  ret void
}

declare i32 @llvm.umin.i32(i32, i32) #1

attributes #0 = { nounwind }
attributes #1 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }

!0 = !{}
