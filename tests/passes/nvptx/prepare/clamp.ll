; opt=3
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @k(ptr addrspace(1) align 1 %x, i32 range(i32 0, -2147483648) %n, i32 %any, ptr addrspace(1) align 4 %out) #0 {
entry:
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %size = zext nneg i32 %block to i64
  %wide = zext nneg i32 %thread to i64
  %next = add nuw nsw i64 %wide, %size
  %first = trunc nuw nsw i64 %wide to i32
  %second = trunc nuw nsw i64 %next to i32
  %a = call i32 @llvm.smax.i32(i32 %first, i32 1)
  %left = add nsw i32 %a, -1
  %b = call i32 @llvm.smax.i32(i32 %second, i32 1)
  %behind = add nsw i32 %b, -1
  %c = call i32 @llvm.smax.i32(i32 %any, i32 1)
  %other = add nsw i32 %c, -1
  %d = call i32 @llvm.smax.i32(i32 %n, i32 1)
  %last = add nsw i32 %d, -1
  %s = xor i32 %left, %behind
  %t = xor i32 %other, %last
  %u = xor i32 %s, %t
  store i32 %u, ptr addrspace(1) %out, align 4
  ret void
}

declare i32 @llvm.smax.i32(i32, i32)

declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

attributes #0 = { nounwind }
