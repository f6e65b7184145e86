; of=4
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, ptr addrspace(1) align 4 %out, i32 range(i32 0, -2147483648) %n, i32 %row, i32 range(i32 0, -2147483648) %rows, i32 %d, float %scale) #0 {
entry:
  %ntid = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %ctaid = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %base = mul nuw nsw i32 %ctaid, %ntid
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i = add nuw nsw i32 %base, %tid
  %at = add nsw i32 %i, %d
  %column = icmp ult i32 %at, %n
  %inside = icmp ult i32 %row, %rows
  %both = select i1 %column, i1 %inside, i1 false
  br i1 %both, label %arm, label %join

arm:                                              ; preds = %entry
  %wide = sext i32 %at to i64
  %place = getelementptr inbounds float, ptr addrspace(1) %x, i64 %wide
  %v = load float, ptr addrspace(1) %place, align 4
  %t0 = fmul float %v, %scale
  %t1 = fadd float %t0, %scale
  %t2 = fmul float %t1, %scale
  %t3 = fadd float %t2, %scale
  %t4 = fmul float %t3, %scale
  %t5 = fadd float %t4, %scale
  %t6 = fmul float %t5, %scale
  %t7 = fadd float %t6, %scale
  %t8 = fmul float %t7, %scale
  %t9 = fadd float %t8, %scale
  %t10 = fmul float %t9, %scale
  %t11 = fadd float %t10, %scale
  %t12 = fmul float %t11, %scale
  br label %join

join:                                             ; preds = %arm, %entry
  %sum = phi float [ %t12, %arm ], [ 0.000000e+00, %entry ]
  %far = zext nneg i32 %i to i64
  %to = getelementptr inbounds nuw float, ptr addrspace(1) %out, i64 %far
  store float %sum, ptr addrspace(1) %to, align 4
  ret void
}

declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #1

declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
