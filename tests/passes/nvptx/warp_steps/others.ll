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
  %13 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 65535, i32 %5, i32 16, i32 31)
  %14 = xor i32 %13, %5
  %15 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 65535, i32 %14, i32 8, i32 31)
  %16 = xor i32 %15, %14
  %17 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 65535, i32 %16, i32 4, i32 31)
  %18 = xor i32 %17, %16
  %19 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 65535, i32 %18, i32 2, i32 31)
  %20 = xor i32 %19, %18
  %21 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 65535, i32 %20, i32 1, i32 31)
  %22 = getelementptr i32, ptr addrspace(1) %1, i64 %3
  %23 = getelementptr i8, ptr addrspace(1) %22, i64 256
  %24 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %5, i32 16, i32 31)
  %25 = and i32 %24, %5
  %26 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %25, i32 8, i32 31)
  %27 = and i32 %26, %25
  %28 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %27, i32 4, i32 31)
  %29 = and i32 %28, %27
  store i32 %29, ptr addrspace(1) %23, align 4
  %30 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %29, i32 2, i32 31)
  %31 = and i32 %30, %29
  %32 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %31, i32 1, i32 31)
  %33 = and i32 %32, %31
  %34 = xor i32 %21, %20
  %35 = add i32 %12, %11
  store i32 %35, ptr addrspace(1) %22, align 4
  %36 = add i32 %33, %34
  %37 = getelementptr i8, ptr addrspace(1) %22, i64 128
  store i32 %36, ptr addrspace(1) %37, align 4
  ret void
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

; Function Attrs: convergent nocallback nounwind memory(inaccessiblemem: readwrite)
declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32) #2

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { convergent nocallback nounwind memory(inaccessiblemem: readwrite) }
