; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 4 %0) #0 {
entry:
  %1 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %2 = zext nneg i32 %1 to i64
  %3 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %2
  store i32 1, ptr addrspace(1) %3, align 4
  ret void
}

declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
