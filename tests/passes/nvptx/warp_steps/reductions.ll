; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, ptr addrspace(1) align 4 %1) #0 {
entry:
  %2 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %3 = zext nneg i32 %2 to i64
  %4 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %3
  %5 = load i32, ptr addrspace(1) %4, align 4
  %6 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %5, i32 16, i32 31)
  %7 = add i32 %6, %5
  %8 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %7, i32 8, i32 31)
  %9 = add i32 %8, %7
  %10 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %9, i32 4, i32 31)
  %11 = add i32 %10, %9
  %12 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %11, i32 2, i32 31)
  %13 = add i32 %12, %11
  %14 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %13, i32 1, i32 31)
  %15 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %5, i32 1, i32 31)
  %16 = call i32 @llvm.smax.i32(i32 %15, i32 %5)
  %17 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %16, i32 4, i32 31)
  %18 = call i32 @llvm.smax.i32(i32 %17, i32 %16)
  %19 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %18, i32 2, i32 31)
  %20 = call i32 @llvm.smax.i32(i32 %19, i32 %18)
  %21 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %20, i32 16, i32 31)
  %22 = call i32 @llvm.smax.i32(i32 %21, i32 %20)
  %23 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %22, i32 8, i32 31)
  %24 = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %25 = icmp eq i32 %24, 0
  br i1 %25, label %b7, label %b8

b7:                                               ; preds = %entry
  %26 = add i32 %14, %13
  %27 = call i32 @llvm.smax.i32(i32 %23, i32 %22)
  store i32 %26, ptr addrspace(1) %1, align 4
  %28 = getelementptr inbounds nuw i8, ptr addrspace(1) %1, i64 4
  store i32 %27, ptr addrspace(1) %28, align 4
  br label %b8

b8:                                               ; preds = %b7, %entry
  ret void
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

; Function Attrs: convergent nocallback nounwind memory(inaccessiblemem: readwrite)
declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32) #2

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 32) i32 @llvm.nvvm.read.ptx.sreg.laneid() #1

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.smax.i32(i32, i32) #3

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { convergent nocallback nounwind memory(inaccessiblemem: readwrite) }
attributes #3 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
