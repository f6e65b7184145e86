; opt=3
; The size of a block, which decides behind the guard, is read in front of it.
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, i32 range(i32 0, -2147483648) %n, ptr addrspace(1) align 4 %out) #0 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %some = icmp ult i32 %t, %n
  br i1 %some, label %ask, label %behind

ask:                                              ; preds = %entry
  %more = icmp ult i32 %size, %n
  br i1 %more, label %yes, label %behind

yes:                                              ; preds = %ask
  %v = load float, ptr addrspace(1) %x, align 4
  br label %behind

behind:                                           ; preds = %yes, %ask, %entry
  %u = phi float [ %v, %yes ], [ 1.000000e+00, %ask ], [ 0.000000e+00, %entry ]
  store float %u, ptr addrspace(1) %out, align 4
  ret void
}

declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1
declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #1

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
