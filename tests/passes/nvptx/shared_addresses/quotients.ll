; opt=3
; The place of a warp's number behind two conditions, once, in front of both; the second kernel's are quotients of two numbers, which stay.
@parts = internal addrspace(3) global [128 x i8] poison, align 4

define ptx_kernel void @same(i32 %lane, i32 %n) #0 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = icmp eq i32 %lane, 0
  br i1 %p, label %first, label %a

first:                                            ; preds = %entry
  %w0 = lshr i32 %t, 5
  %i0 = zext nneg i32 %w0 to i64
  %g0 = getelementptr inbounds nuw float, ptr addrspace(3) @parts, i64 %i0
  store float 0.000000e+00, ptr addrspace(3) %g0, align 4
  br label %a

a:                                                ; preds = %first, %entry
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %p, label %second, label %end

second:                                           ; preds = %a
  %w1 = lshr i32 %t, 5
  %i1 = zext nneg i32 %w1 to i64
  %g1 = getelementptr inbounds nuw float, ptr addrspace(3) @parts, i64 %i1
  store float 1.000000e+00, ptr addrspace(3) %g1, align 4
  br label %end

end:                                              ; preds = %second, %a
  ret void
}

define ptx_kernel void @others(i32 %lane, i32 %n) #0 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = icmp eq i32 %lane, 0
  br i1 %p, label %first, label %a

first:                                            ; preds = %entry
  %w0 = lshr i32 %t, 5
  %i0 = zext nneg i32 %w0 to i64
  %g0 = getelementptr inbounds nuw float, ptr addrspace(3) @parts, i64 %i0
  store float 0.000000e+00, ptr addrspace(3) %g0, align 4
  br label %a

a:                                                ; preds = %first, %entry
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %p, label %second, label %end

second:                                           ; preds = %a
  %w1 = lshr i32 %t, 6
  %i1 = zext nneg i32 %w1 to i64
  %g1 = getelementptr inbounds nuw float, ptr addrspace(3) @parts, i64 %i1
  store float 1.000000e+00, ptr addrspace(3) %g1, align 4
  br label %end

end:                                              ; preds = %second, %a
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)

attributes #0 = { nounwind }
