; opt=3
; A year that is read often: its range is that of the digits, many operations away.
define ptx_kernel void @k(ptr addrspace(1) align 1 %0, i32 noundef range(i32 0, -2147483648) %1, ptr addrspace(1) align 8 %2, i32 noundef range(i32 0, -2147483648) %3) #0 {
entry:
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %6 = mul nuw nsw i32 %5, %4
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %8 = add nuw nsw i32 %6, %7
  %.not = icmp samesign ult i32 %8, %3
  br i1 %.not, label %b2.preheader, label %b10

b2.preheader:                                     ; preds = %entry
  %9 = mul nuw nsw i32 %1, %8
  %10 = zext nneg i32 %9 to i64
  %11 = getelementptr inbounds nuw i8, ptr addrspace(1) %0, i64 %10
  %12 = load i8, ptr addrspace(1) %11, align 1
  %13 = add i8 %12, -58
  %or.cond = icmp ult i8 %13, -10
  br i1 %or.cond, label %b7, label %b6

b6:                                               ; preds = %b2.preheader
  %14 = getelementptr inbounds nuw i8, ptr addrspace(1) %11, i64 1
  %15 = load i8, ptr addrspace(1) %14, align 1
  %16 = add i8 %15, -58
  %or.cond.1 = icmp ult i8 %16, -10
  br i1 %or.cond.1, label %b7, label %b6.1

b6.1:                                             ; preds = %b6
  %17 = getelementptr inbounds nuw i8, ptr addrspace(1) %11, i64 2
  %18 = load i8, ptr addrspace(1) %17, align 1
  %19 = add i8 %18, -58
  %or.cond.2 = icmp ult i8 %19, -10
  br i1 %or.cond.2, label %b7, label %b6.2

b6.2:                                             ; preds = %b6.1
  %20 = getelementptr inbounds nuw i8, ptr addrspace(1) %11, i64 3
  %21 = load i8, ptr addrspace(1) %20, align 1
  %22 = add i8 %21, -58
  %or.cond.3 = icmp ult i8 %22, -10
  br i1 %or.cond.3, label %b7, label %b6.3

b6.3:                                             ; preds = %b6.2
  %23 = and i8 %18, 15
  %24 = zext nneg i8 %23 to i64
  %25 = and i8 %15, 15
  %26 = zext nneg i8 %25 to i64
  %27 = and i8 %12, 15
  %narrow = mul nuw i8 %27, 10
  %28 = zext i8 %narrow to i64
  %29 = add nuw nsw i64 %26, %28
  %30 = mul nuw nsw i64 %29, 10
  %31 = add nuw nsw i64 %30, %24
  %32 = and i8 %21, 15
  %33 = zext nneg i8 %32 to i64
  %34 = mul nuw nsw i64 %31, 10
  %35 = add nuw nsw i64 %34, %33
  br label %b7

b7:                                               ; preds = %b6.3, %b6.2, %b6.1, %b6, %b2.preheader
  %36 = phi i64 [ %35, %b6.3 ], [ -1, %b2.preheader ], [ -1, %b6 ], [ -1, %b6.2 ], [ -1, %b6.1 ]
  %37 = getelementptr inbounds nuw i8, ptr addrspace(1) %11, i64 5
  %38 = load i8, ptr addrspace(1) %37, align 1
  %39 = icmp ult i8 %38, 3
  %40 = sext i1 %39 to i64
  %41 = add nsw i64 %36, %40
  %42 = ashr i64 %41, 63
  %43 = xor i64 %42, %41
  %44 = udiv i64 %43, 400
  %45 = xor i64 %44, %42
  %.neg = mul i64 %45, -400
  %46 = add i64 %.neg, %41
  %47 = mul i64 %45, 146097
  %48 = mul i64 %46, 365
  %49 = add i64 %48, %47
  %50 = ashr i64 %46, 2
  %51 = add i64 %49, %50
  %52 = ashr i64 %46, 63
  %53 = xor i64 %52, %46
  %54 = udiv i64 %53, 100
  %55 = xor i64 %54, %52
  %56 = sub i64 %51, %55
  %57 = mul i64 %56, 24
  %58 = getelementptr inbounds nuw i8, ptr addrspace(1) %11, i64 6
  %59 = load i8, ptr addrspace(1) %58, align 1
  %60 = zext i8 %59 to i64
  %61 = add i64 %57, %60
  %62 = mul i64 %61, 60
  %63 = getelementptr inbounds nuw i8, ptr addrspace(1) %11, i64 7
  %64 = load i8, ptr addrspace(1) %63, align 1
  %65 = zext i8 %64 to i64
  %66 = add i64 %62, %65
  %67 = zext nneg i32 %8 to i64
  %68 = getelementptr inbounds nuw i64, ptr addrspace(1) %2, i64 %67
  store i64 %66, ptr addrspace(1) %68, align 8
  br label %b10

b10:                                              ; preds = %b7, %entry
  ret void
}

declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #1

declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

declare i64 @llvm.abs.i64(i64, i1 immarg) #1

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
