; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 1 %0, i32 noundef range(i32 0, -2147483648) %1, ptr addrspace(1) align 4 %2, ptr addrspace(1) align 4 %3, i32 noundef range(i32 0, -2147483648) %4) #0 {
entry:
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %7 = mul nuw nsw i32 %6, %5
  %8 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %9 = add nuw nsw i32 %7, %8
  %.not = icmp samesign ult i32 %9, %4
  br i1 %.not, label %b1, label %b4

b1:                                               ; preds = %entry
  %10 = zext nneg i32 %9 to i64
  %11 = getelementptr inbounds nuw i32, ptr addrspace(1) %2, i64 %10
  %12 = load i32, ptr addrspace(1) %11, align 4
  %13 = add i32 %12, %1
  %14 = call i32 @llvm.umin.i32(i32 %12, i32 %13)
  %15 = add i32 %12, 2
  %16 = add i32 %15, %1
  %17 = call i32 @llvm.umin.i32(i32 %15, i32 %16)
  %18 = sext i32 %17 to i64
  %19 = getelementptr inbounds i8, ptr addrspace(1) %0, i64 %18
  %20 = load i8, ptr addrspace(1) %19, align 1, !pyptx.in_range !0
  %.not1 = icmp eq i8 %20, 45
  %21 = add i32 %12, 3
  %22 = add i32 %21, %1
  %23 = call i32 @llvm.umin.i32(i32 %21, i32 %22)
  %.pn.in = select i1 %.not1, i32 %14, i32 %23
  %.pn = sext i32 %.pn.in to i64
  %.in.in = getelementptr inbounds i8, ptr addrspace(1) %0, i64 %.pn
  %.in = load i8, ptr addrspace(1) %.in.in, align 1
  %24 = zext i8 %.in to i32
  %25 = getelementptr inbounds nuw i32, ptr addrspace(1) %3, i64 %10
  store i32 %24, ptr addrspace(1) %25, align 4
  br label %b4

b4:                                               ; preds = %b1, %entry
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
