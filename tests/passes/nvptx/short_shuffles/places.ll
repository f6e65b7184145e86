; opt=3
; The place of the least number: what arrives at the second step is the first's, or the lane's own.
define ptx_kernel void @k(i32 %place, i1 %c, ptr addrspace(1) align 8 %out) #0 {
entry:
  %wide = zext i32 %place to i64
  %f0 = bitcast i64 %wide to <2 x i32>
  %l0 = extractelement <2 x i32> %f0, i64 0
  %sl0 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %l0, i32 2, i32 31)
  %t0 = insertelement <2 x i32> poison, i32 %sl0, i64 0
  %h0 = extractelement <2 x i32> %f0, i64 1
  %sh0 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %h0, i32 2, i32 31)
  %u0 = insertelement <2 x i32> %t0, i32 %sh0, i64 1
  %v0 = bitcast <2 x i32> %u0 to i64
  %less = icmp sgt i64 %wide, %v0
  %both = and i1 %less, %c
  %near = select i1 %both, i64 %v0, i64 %wide
  %f1 = bitcast i64 %near to <2 x i32>
  %l1 = extractelement <2 x i32> %f1, i64 0
  %sl1 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %l1, i32 1, i32 31)
  %t1 = insertelement <2 x i32> poison, i32 %sl1, i64 0
  %h1 = extractelement <2 x i32> %f1, i64 1
  %sh1 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %h1, i32 1, i32 31)
  %u1 = insertelement <2 x i32> %t1, i32 %sh1, i64 1
  %v1 = bitcast <2 x i32> %u1 to i64
  %second = icmp sgt i64 %near, %v1
  %best = select i1 %second, i64 %v1, i64 %near
  store i64 %best, ptr addrspace(1) %out, align 8
  ret void
}

declare i32 @llvm.nvvm.shfl.sync.down.i32(i32, i32, i32, i32)

attributes #0 = { nounwind }
