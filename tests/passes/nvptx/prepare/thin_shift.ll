; opt=3
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @k(ptr addrspace(1) align 1 %x, ptr addrspace(1) align 2 %y, i32 range(i32 0, 8) %n) #0 {
entry:
  %byte = load i8, ptr addrspace(1) %x, align 1
  %count = trunc nuw nsw i32 %n to i8
  %left = shl i8 %byte, %count
  store i8 %left, ptr addrspace(1) %x, align 1
  %short = load i16, ptr addrspace(1) %y, align 2
  %thin = trunc nuw nsw i32 %n to i16
  %right = ashr i16 %short, %thin
  %bit = lshr i16 %short, %thin
  %one = and i16 %bit, 1
  %both = xor i16 %right, %one
  %constant = lshr i16 %both, 3
  store i16 %constant, ptr addrspace(1) %y, align 2
  ret void
}
attributes #0 = { nounwind }
