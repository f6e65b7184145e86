; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, ptr addrspace(1) align 4 %1) #0 {
entry:
  %2 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %3 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %4 = mul i32 %3, %2
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %6 = add i32 %4, %5
  %7 = sext i32 %6 to i64
  %8 = getelementptr inbounds i32, ptr addrspace(1) %0, i64 %7
  %9 = load i32, ptr addrspace(1) %8, align 4
  %.not1 = icmp eq i32 %9, 0
  br i1 %.not1, label %b3, label %b2

b2:                                               ; preds = %entry, %b2
  %10 = phi i32 [ %16, %b2 ], [ %9, %entry ]
  %11 = phi i32 [ %15, %b2 ], [ 0, %entry ]
  %12 = sext i32 %10 to i64
  %13 = getelementptr inbounds i32, ptr addrspace(1) %0, i64 %12
  %14 = load i32, ptr addrspace(1) %13, align 4
  %15 = add i32 %14, %11
  %16 = lshr i32 %10, 1
  %.not = icmp eq i32 %16, 0
  br i1 %.not, label %b3, label %b2

b3:                                               ; preds = %b2, %entry
  %.lcssa = phi i32 [ 0, %entry ], [ %15, %b2 ]
  %17 = getelementptr inbounds i32, ptr addrspace(1) %1, i64 %7
  store i32 %.lcssa, ptr addrspace(1) %17, align 4
  ret void
}

declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #1

declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
