; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 8 %0, ptr addrspace(1) align 4 %1, ptr addrspace(1) align 8 %2) #0 {
entry:
  %a = load i64, ptr addrspace(1) %0, align 8
  %p = getelementptr i8, ptr addrspace(1) %0, i64 8
  %b = load i64, ptr addrspace(1) %p, align 8
  %c = call range(i64 0, 65) i64 @llvm.ctpop.i64(i64 %a)
  %t = trunc nuw nsw i64 %c to i32
  %x = and i32 %t, 3
  store i32 %x, ptr addrspace(1) %1, align 4
  %d = call range(i64 0, 65) i64 @llvm.ctpop.i64(i64 %b)
  %y = xor i64 %d, 8
  %w = shl nuw nsw i64 %y, 1
  %z = and i64 %w, 2
  %o = add i64 %z, %d
  store i64 %o, ptr addrspace(1) %2, align 8
  ret void
}

declare i64 @llvm.ctpop.i64(i64) #1

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
