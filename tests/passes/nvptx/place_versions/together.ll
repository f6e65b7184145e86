; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 1 %0, i32 noundef range(i32 0, -2147483648) %1, ptr addrspace(1) align 4 %2, ptr addrspace(1) align 4 %3, i32 noundef range(i32 0, -2147483648) %4) #0 {
entry:
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %7 = mul nuw nsw i32 %6, %5
  %8 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %9 = add nuw nsw i32 %7, %8
  %.not = icmp samesign ult i32 %9, %4
  br i1 %.not, label %b1, label %b8

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
  %25 = icmp ugt i8 %.in, 3
  %26 = call i32 @llvm.nvvm.barrier.cta.red.popc.aligned.all(i32 0, i1 %25)
  %27 = add i32 %26, %24
  %28 = add i32 %12, 4
  %29 = add i32 %28, %1
  %30 = call i32 @llvm.umin.i32(i32 %28, i32 %29)
  %31 = sext i32 %30 to i64
  %32 = getelementptr inbounds i8, ptr addrspace(1) %0, i64 %31
  %33 = load i8, ptr addrspace(1) %32, align 1, !pyptx.in_range !0
  %.not2 = icmp eq i8 %33, 45
  br i1 %.not2, label %b5, label %b4

b4:                                               ; preds = %b1
  %34 = add i32 %12, 5
  %35 = add i32 %34, %1
  %36 = call i32 @llvm.umin.i32(i32 %34, i32 %35)
  %37 = sext i32 %36 to i64
  %38 = getelementptr inbounds i8, ptr addrspace(1) %0, i64 %37
  %39 = load i8, ptr addrspace(1) %38, align 1, !pyptx.in_range !0
  %40 = zext i8 %39 to i32
  %41 = add i32 %27, %40
  br label %b5

b5:                                               ; preds = %b4, %b1
  %.in3 = phi i32 [ %27, %b1 ], [ %41, %b4 ]
  %42 = add i32 %12, 6
  %43 = add i32 %42, %1
  %44 = call i32 @llvm.umin.i32(i32 %42, i32 %43)
  %45 = sext i32 %44 to i64
  %46 = getelementptr inbounds i8, ptr addrspace(1) %0, i64 %45
  %47 = load i8, ptr addrspace(1) %46, align 1, !pyptx.in_range !0
  %.not4 = icmp eq i8 %47, 45
  br i1 %.not4, label %b7, label %b6

b6:                                               ; preds = %b5
  %48 = add i32 %12, 7
  %49 = add i32 %48, %1
  %50 = call i32 @llvm.umin.i32(i32 %48, i32 %49)
  %51 = sext i32 %50 to i64
  %52 = getelementptr inbounds i8, ptr addrspace(1) %0, i64 %51
  %53 = load i8, ptr addrspace(1) %52, align 1, !pyptx.in_range !0
  %54 = zext i8 %53 to i32
  %55 = add i32 %.in3, %54
  br label %b7

b7:                                               ; preds = %b6, %b5
  %56 = phi i32 [ %.in3, %b5 ], [ %55, %b6 ]
  %57 = getelementptr inbounds nuw i32, ptr addrspace(1) %3, i64 %10
  store i32 %56, ptr addrspace(1) %57, align 4
  br label %b8

b8:                                               ; preds = %b7, %entry
  ret void
}

declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #1

declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

declare i32 @llvm.umin.i32(i32, i32) #2

declare i32 @llvm.nvvm.barrier.cta.red.popc.aligned.all(i32, i1) #3

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #3 = { convergent nocallback nounwind }

!0 = !{}
