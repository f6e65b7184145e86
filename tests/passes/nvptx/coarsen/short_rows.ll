; opt=3
; There is a loop: a warp some of whose threads have only the first copies runs these one by one.
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, i32 range(i32 1, 1000000) %n, i32 %m, ptr addrspace(1) align 4 %a, ptr addrspace(1) align 4 %y) #0 {
entry:
  %w = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = mul nuw nsw i32 %b, %w
  %i = add nuw nsw i32 %p, %t
  %inside = icmp ult i32 %i, %n
  br i1 %inside, label %ready, label %end

ready:                                            ; preds = %entry
  %wide = zext nneg i32 %i to i64
  %px = getelementptr inbounds float, ptr addrspace(1) %x, i64 %wide
  %v = load float, ptr addrspace(1) %px, align 4
  br label %loop

loop:                                             ; preds = %loop, %ready
  %k = phi i32 [ 0, %ready ], [ %next, %loop ]
  %total = phi float [ 0.000000e+00, %ready ], [ %sum, %loop ]
  %wk = zext nneg i32 %k to i64
  %pa = getelementptr inbounds float, ptr addrspace(1) %a, i64 %wk
  %c = load float, ptr addrspace(1) %pa, align 4
  %d = fsub float %v, %c
  %e = fmul float %d, %d
  %sum = fadd float %total, %e
  %next = add nuw nsw i32 %k, 1
  %more = icmp slt i32 %next, %m
  br i1 %more, label %loop, label %done

done:                                             ; preds = %loop
  %py = getelementptr inbounds float, ptr addrspace(1) %y, i64 %wide
  store float %sum, ptr addrspace(1) %py, align 4
  br label %end

end:                                              ; preds = %done, %entry
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

attributes #0 = { nounwind }
