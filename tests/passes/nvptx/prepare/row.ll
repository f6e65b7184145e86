; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, i32 %1, i32 %2, i32 %3, ptr addrspace(1) align 4 %4) {
entry:
  %row = mul nsw i32 %1, %2
  %last = add nsw i32 %2, -1
  br label %loop

loop:
  %x = phi i32 [ 0, %entry ], [ %next, %loop ]
  %s = phi float [ 0.000000e+00, %entry ], [ %t, %loop ]
  %next = add nuw nsw i32 %x, 1
  %column = call i32 @llvm.smin.i32(i32 %x, i32 %last)
  %at = add nsw i32 %row, %column
  %i = sext i32 %at to i64
  %p = getelementptr inbounds float, ptr addrspace(1) %0, i64 %i
  %v = load float, ptr addrspace(1) %p, align 4
  %t = fadd float %s, %v
  %end = icmp eq i32 %next, %3
  br i1 %end, label %out, label %loop

out:
  %other = call i32 @llvm.umin.i32(i32 %3, i32 %last)
  %at2 = add nsw i32 %other, %row
  %i2 = sext i32 %at2 to i64
  %p2 = getelementptr inbounds float, ptr addrspace(1) %0, i64 %i2
  %v2 = load float, ptr addrspace(1) %p2, align 4
  %at3 = add nsw i32 %3, %row
  %i3 = sext i32 %at3 to i64
  %p3 = getelementptr inbounds float, ptr addrspace(1) %0, i64 %i3
  store float %v2, ptr addrspace(1) %p3, align 4
  store float %t, ptr addrspace(1) %4, align 4
  ret void
}

declare i32 @llvm.smin.i32(i32, i32)

declare i32 @llvm.umin.i32(i32, i32)
