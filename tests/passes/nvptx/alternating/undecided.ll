; opt=3
; -sign decides nothing.
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, i32 noundef range(i32 0, -2147483648) %1, i64 %2, ptr addrspace(1) align 4 %3) #0 {
entry:
  %4 = trunc i64 %2 to i32
  %5 = icmp slt i32 0, %4
  br i1 %5, label %b2, label %b3

b2:                                               ; preds = %entry, %b2
  %6 = phi i32 [ %16, %b2 ], [ 0, %entry ]
  %7 = phi i32 [ %15, %b2 ], [ 0, %entry ]
  %8 = phi i32 [ %17, %b2 ], [ 1, %entry ]
  %9 = add i32 %6, %1
  %10 = call i32 @llvm.umin.i32(i32 %6, i32 %9)
  %11 = sext i32 %10 to i64
  %12 = getelementptr inbounds i32, ptr addrspace(1) %0, i64 %11
  %13 = load i32, ptr addrspace(1) %12, align 4
  %14 = mul i32 %13, %8
  %15 = add i32 %14, %7
  %16 = add i32 %13, %6
  %17 = sub nsw i32 0, %8
  %18 = icmp slt i32 %16, %4
  br i1 %18, label %b2, label %b3

b3:                                               ; preds = %b2, %entry
  %.lcssa = phi i32 [ 0, %entry ], [ %15, %b2 ]
  store i32 %.lcssa, ptr addrspace(1) %3, align 4
  ret void
}

declare i32 @llvm.umin.i32(i32, i32) #1

attributes #0 = { nounwind }
attributes #1 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
