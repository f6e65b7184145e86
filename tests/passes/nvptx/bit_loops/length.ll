; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 8 %0, ptr addrspace(1) align 8 %1) #0 {
entry:
  %2 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %3 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %4 = mul i32 %3, %2
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %6 = add i32 %4, %5
  %7 = sext i32 %6 to i64
  %8 = getelementptr inbounds i64, ptr addrspace(1) %0, i64 %7
  %9 = load i64, ptr addrspace(1) %8, align 8
  %10 = icmp sgt i64 %9, 0
  br i1 %10, label %b2, label %b3

b2:                                               ; preds = %entry, %b2
  %11 = phi i64 [ %13, %b2 ], [ %9, %entry ]
  %12 = phi i64 [ %14, %b2 ], [ 3, %entry ]
  %13 = lshr i64 %11, 1
  %14 = add nsw i64 %12, -2
  %.not = icmp eq i64 %13, 0
  br i1 %.not, label %b3, label %b2

b3:                                               ; preds = %b2, %entry
  %.lcssa1 = phi i64 [ 3, %entry ], [ %14, %b2 ]
  %.lcssa = phi i64 [ %9, %entry ], [ 0, %b2 ]
  %15 = add i64 %.lcssa, %.lcssa1
  %16 = getelementptr inbounds i64, ptr addrspace(1) %1, i64 %7
  store i64 %15, ptr addrspace(1) %16, align 8
  ret void
}

declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #1

declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

declare i64 @llvm.umin.i64(i64, i64) #2

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
