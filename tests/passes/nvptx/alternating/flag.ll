; opt=3
; A side of a branch in each iteration of two; the loop may end anywhere.
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, i32 noundef range(i32 0, -2147483648) %1, i64 %2, ptr addrspace(1) align 4 %3) #0 {
entry:
  %4 = trunc i64 %2 to i32
  %5 = icmp slt i32 0, %4
  br i1 %5, label %b2, label %b7

b2:                                               ; preds = %entry, %b3
  %6 = phi i32 [ %24, %b3 ], [ 0, %entry ]
  %7 = phi i1 [ %23, %b3 ], [ true, %entry ]
  %8 = phi i32 [ %22, %b3 ], [ 0, %entry ]
  %9 = phi i32 [ %21, %b3 ], [ 0, %entry ]
  %10 = shl i32 %6, 1
  %11 = add i32 %10, %1
  %12 = call i32 @llvm.umin.i32(i32 %10, i32 %11)
  %13 = sext i32 %12 to i64
  %14 = getelementptr inbounds i32, ptr addrspace(1) %0, i64 %13
  %15 = load i32, ptr addrspace(1) %14, align 4, !pyptx.in_range !0
  %16 = icmp slt i32 %15, 0
  br i1 %16, label %b7, label %b3

b3:                                               ; preds = %b2
  %17 = mul i32 %15, %8
  %18 = add i32 %17, 1
  %19 = add i32 %15, %8
  %20 = select i1 %7, i32 0, i32 %19
  %21 = xor i32 %20, %9
  %22 = select i1 %7, i32 %18, i32 %8
  %23 = xor i1 %7, true
  %24 = add i32 %15, %6
  %25 = icmp slt i32 %24, %4
  br i1 %25, label %b2, label %b7

b7:                                               ; preds = %b3, %b2, %entry
  %.lcssa1 = phi i32 [ 0, %entry ], [ %9, %b2 ], [ %21, %b3 ]
  %.lcssa = phi i32 [ 0, %entry ], [ %8, %b2 ], [ %22, %b3 ]
  %26 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %27 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %28 = mul nuw nsw i32 %26, %27
  %29 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %30 = add nuw nsw i32 %28, %29
  %31 = add i32 %.lcssa, %.lcssa1
  %32 = zext nneg i32 %30 to i64
  %33 = getelementptr inbounds nuw i32, ptr addrspace(1) %3, i64 %32
  store i32 %31, ptr addrspace(1) %33, align 4
  ret void
}

declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #1

declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

declare i32 @llvm.umin.i32(i32, i32) #2

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }

!0 = !{}
