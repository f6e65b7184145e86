; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 8 %0, i32 range(i32 0, -2147483648) %1, i32 range(i32 0, -2147483648) %2, ptr addrspace(1) align 8 %3, i32 range(i32 0, -2147483648) %4, ptr addrspace(1) align 8 %5, i32 range(i32 0, -2147483648) %6) #0 {
entry:
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %8 = zext nneg i32 %7 to i64
  %9 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %10 = zext nneg i32 %9 to i64
  %11 = mul nuw nsw i64 %10, %8
  %12 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %13 = zext nneg i32 %12 to i64
  %14 = add nuw nsw i64 %11, %13
  %15 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %16 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %17 = mul nuw nsw i32 %16, %15
  %18 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %19 = add nuw nsw i32 %17, %18
  %20 = icmp samesign ugt i32 %19, 1
  %21 = add nsw i32 %1, -2
  %22 = icmp slt i32 %19, %21
  %or.cond = select i1 %20, i1 %22, i1 false
  %23 = icmp samesign ugt i64 %14, 1
  %or.cond3 = select i1 %or.cond, i1 %23, i1 false
  %24 = add nsw i32 %2, -2
  %25 = sext i32 %24 to i64
  %26 = icmp slt i64 %14, %25
  %or.cond6 = select i1 %or.cond3, i1 %26, i1 false
  br i1 %or.cond6, label %b4, label %b5

b4:                                               ; preds = %entry
  %27 = trunc nuw nsw i64 %14 to i32
  %28 = mul nuw nsw i32 %4, %19
  %29 = add nuw nsw i32 %28, %27
  %30 = zext nneg i32 %29 to i64
  %31 = getelementptr inbounds nuw double, ptr addrspace(1) %3, i64 %30
  %32 = load double, ptr addrspace(1) %31, align 8
  %33 = mul nuw nsw i32 %2, %19
  %34 = add nuw nsw i32 %33, %27
  %35 = zext nneg i32 %34 to i64
  %36 = getelementptr inbounds nuw double, ptr addrspace(1) %0, i64 %35
  %37 = load double, ptr addrspace(1) %36, align 8
  %38 = fadd contract double %32, %37
  %39 = add nsw i32 %19, -1
  %40 = mul nsw i32 %2, %39
  %41 = add nuw nsw i32 %40, %27
  %42 = zext nneg i32 %41 to i64
  %43 = getelementptr inbounds nuw double, ptr addrspace(1) %0, i64 %42
  %44 = load double, ptr addrspace(1) %43, align 8
  %45 = add nuw nsw i32 %19, 1
  %46 = mul nuw nsw i32 %2, %45
  %47 = add nuw nsw i32 %46, %27
  %48 = zext nneg i32 %47 to i64
  %49 = getelementptr inbounds nuw double, ptr addrspace(1) %0, i64 %48
  %50 = load double, ptr addrspace(1) %49, align 8
  %51 = fmul contract double %44, %50
  %52 = add nsw i32 %19, -2
  %53 = mul nsw i32 %2, %52
  %54 = add nuw nsw i32 %53, %27
  %55 = zext nneg i32 %54 to i64
  %56 = getelementptr inbounds nuw double, ptr addrspace(1) %0, i64 %55
  %57 = load double, ptr addrspace(1) %56, align 8
  %58 = fmul contract double %51, %57
  %59 = add nuw nsw i32 %19, 2
  %60 = mul nuw nsw i32 %2, %59
  %61 = add nuw nsw i32 %60, %27
  %62 = zext nneg i32 %61 to i64
  %63 = getelementptr inbounds nuw double, ptr addrspace(1) %0, i64 %62
  %64 = load double, ptr addrspace(1) %63, align 8
  %65 = fmul contract double %58, %64
  %66 = fadd contract double %38, %65
  %67 = getelementptr i8, ptr addrspace(1) %36, i64 -8
  %68 = load double, ptr addrspace(1) %67, align 8
  %69 = getelementptr i8, ptr addrspace(1) %36, i64 8
  %70 = load double, ptr addrspace(1) %69, align 8
  %71 = fmul contract double %68, %70
  %72 = getelementptr i8, ptr addrspace(1) %36, i64 -16
  %73 = load double, ptr addrspace(1) %72, align 8
  %74 = fmul contract double %71, %73
  %75 = getelementptr i8, ptr addrspace(1) %36, i64 16
  %76 = load double, ptr addrspace(1) %75, align 8
  %77 = fmul contract double %74, %76
  %78 = fadd contract double %66, %77
  %79 = mul nuw nsw i32 %6, %19
  %80 = add nuw nsw i32 %79, %27
  %81 = zext nneg i32 %80 to i64
  %82 = getelementptr inbounds nuw double, ptr addrspace(1) %5, i64 %81
  store double %78, ptr addrspace(1) %82, align 8
  br label %b5

b5:                                               ; preds = %b4, %entry
  ret void
}

declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #1

declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.y() #1

declare noundef range(i32 0, 65535) i32 @llvm.nvvm.read.ptx.sreg.ctaid.y() #1

declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.y() #1

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
