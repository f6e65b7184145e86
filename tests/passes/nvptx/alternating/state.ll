; opt=3
; A state that comes back after three iterations.
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, ptr addrspace(1) align 4 %1) #0 {
entry:
  %2 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %3 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %4 = mul nuw nsw i32 %3, %2
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %6 = add nuw nsw i32 %4, %5
  %7 = zext nneg i32 %6 to i64
  %8 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %7
  %9 = load i32, ptr addrspace(1) %8, align 4
  %.not1 = icmp eq i32 %9, 1
  br i1 %.not1, label %b13, label %b2

b2:                                               ; preds = %entry, %b2
  %10 = phi i32 [ %18, %b2 ], [ %9, %entry ]
  %11 = phi i32 [ %24, %b2 ], [ 2, %entry ]
  %12 = phi i32 [ %21, %b2 ], [ 1, %entry ]
  %13 = and i32 %10, 1
  %14 = icmp eq i32 %13, 0
  %15 = ashr i32 %10, 1
  %16 = mul i32 %10, 3
  %17 = add i32 %16, %11
  %18 = select i1 %14, i32 %15, i32 %17
  %19 = icmp eq i32 %11, 2
  %20 = select i1 %19, i32 %18, i32 1
  %21 = mul i32 %20, %12
  %22 = icmp eq i32 %11, 7
  %23 = select i1 %22, i32 2, i32 7
  %24 = select i1 %19, i32 5, i32 %23
  %.not = icmp eq i32 %18, 1
  br i1 %.not, label %b13, label %b2

b13:                                              ; preds = %b2, %entry
  %.lcssa = phi i32 [ 1, %entry ], [ %21, %b2 ]
  %25 = getelementptr inbounds nuw i32, ptr addrspace(1) %1, i64 %7
  store i32 %.lcssa, ptr addrspace(1) %25, align 4
  ret void
}

declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #1

declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
