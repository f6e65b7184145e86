; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, ptr addrspace(1) align 8 %1, ptr addrspace(1) align 4 %2) #0 {
entry:
  %3 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %5 = zext nneg i32 %3 to i64
  %6 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %5
  %7 = load i32, ptr addrspace(1) %6, align 4
  %8 = getelementptr inbounds nuw double, ptr addrspace(1) %1, i64 %5
  %9 = load double, ptr addrspace(1) %8, align 8
  %10 = call i32 @llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %7, i32 1, i32 0)
  %.not = icmp eq i32 %4, 0
  %11 = select i1 %.not, i32 0, i32 %10
  %spec.select = add i32 %11, %7
  %12 = bitcast double %9 to <2 x i32>
  %13 = extractelement <2 x i32> %12, i64 0
  %14 = call i32 @llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %13, i32 1, i32 0)
  %15 = insertelement <2 x i32> poison, i32 %14, i64 0
  %16 = extractelement <2 x i32> %12, i64 1
  %17 = call i32 @llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %16, i32 1, i32 0)
  %18 = insertelement <2 x i32> %15, i32 %17, i64 1
  %19 = bitcast <2 x i32> %18 to double
  %20 = fmul contract double %9, %19
  %21 = select i1 %.not, double %9, double %20
  %22 = call i32 @llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %7, i32 1, i32 0)
  %.not1.not = icmp samesign ugt i32 %4, 1
  %23 = select i1 %.not1.not, i32 %22, i32 0
  %24 = add i32 %23, %7
  %25 = call i32 @llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %spec.select, i32 2, i32 0)
  %.not.1 = icmp samesign ult i32 %4, 2
  %26 = select i1 %.not.1, i32 0, i32 %25
  %spec.select.1 = add i32 %26, %spec.select
  %27 = bitcast double %21 to <2 x i32>
  %28 = extractelement <2 x i32> %27, i64 0
  %29 = call i32 @llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %28, i32 2, i32 0)
  %30 = insertelement <2 x i32> poison, i32 %29, i64 0
  %31 = extractelement <2 x i32> %27, i64 1
  %32 = call i32 @llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %31, i32 2, i32 0)
  %33 = insertelement <2 x i32> %30, i32 %32, i64 1
  %34 = bitcast <2 x i32> %33 to double
  %35 = fmul contract double %21, %34
  %36 = select i1 %.not.1, double %21, double %35
  %37 = call i32 @llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %24, i32 2, i32 0)
  %.not1.not.1 = icmp samesign ugt i32 %4, 2
  %38 = select i1 %.not1.not.1, i32 %37, i32 0
  %39 = add i32 %38, %24
  store i32 %spec.select.1, ptr addrspace(1) %6, align 4
  store double %36, ptr addrspace(1) %8, align 8
  %40 = getelementptr inbounds nuw i32, ptr addrspace(1) %2, i64 %5
  store i32 %39, ptr addrspace(1) %40, align 4
  ret void
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 32) i32 @llvm.nvvm.read.ptx.sreg.laneid() #1

; Function Attrs: convergent nocallback nounwind memory(inaccessiblemem: readwrite)
declare i32 @llvm.nvvm.shfl.sync.up.i32(i32, i32, i32, i32) #2

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { convergent nocallback nounwind memory(inaccessiblemem: readwrite) }
