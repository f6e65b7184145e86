; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 4 %left, i32 range(i32 0, -2147483648) %n, ptr addrspace(1) align 4 %right, i32 range(i32 0, -2147483648) %m, ptr addrspace(1) align 4 %sample, i32 %node, float %threshold, ptr addrspace(1) align 4 %out) #0 {
entry:
  %x = load float, ptr addrspace(1) %sample, align 4
  %c = fcmp ugt float %x, %threshold
  %extent = select i1 %c, i32 %m, i32 %n
  %from = select i1 %c, ptr addrspace(1) %right, ptr addrspace(1) %left
  %up = add i32 %node, %extent
  %at = call i32 @llvm.umin.i32(i32 %node, i32 %up)
  %wide = sext i32 %at to i64
  %p = getelementptr inbounds i32, ptr addrspace(1) %from, i64 %wide
  %v = load i32, ptr addrspace(1) %p, align 4
  %d = fcmp ugt float %threshold, 1.000000e+00
  %known = select i1 %d, ptr addrspace(1) %right, ptr addrspace(1) %left
  %q = getelementptr inbounds i32, ptr addrspace(1) %known, i64 %wide
  %w = load i32, ptr addrspace(1) %q, align 4
  %sum = add i32 %v, %w
  store i32 %sum, ptr addrspace(1) %out, align 4
  ret void
}

declare i32 @llvm.umin.i32(i32, i32) #1

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }

