; opt=3
; Between barriers those without an element go to where threads meet: what is read there, and behind the question, is a phi; a float of an argument is in front. In the second kernel threads of a loop over rows.
@parts = internal addrspace(3) global [8 x i8] poison, align 4

define ptx_kernel void @mean(ptr addrspace(1) align 4 %x, i32 range(i32 0, -2147483648) %n, ptr addrspace(1) align 4 %out) #0 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %has = icmp samesign ult i32 %t, %n
  %i = zext nneg i32 %t to i64
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %a = load float, ptr addrspace(3) @parts, align 4
  %f = uitofp nneg i32 %n to float
  %m = fdiv float %a, %f
  br i1 %has, label %busy, label %meet

busy:                                             ; preds = %entry
  %p = getelementptr inbounds nuw float, ptr addrspace(1) %x, i64 %i
  %b = load float, ptr addrspace(1) %p, align 4
  %d = fsub float %b, %m
  br label %meet

meet:                                             ; preds = %busy, %entry
  %s = phi float [ 0.000000e+00, %entry ], [ %d, %busy ]
  %ps = getelementptr inbounds nuw float, ptr addrspace(3) @parts, i64 %i
  store float %s, ptr addrspace(3) %ps, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %has, label %store, label %end

store:                                            ; preds = %meet
  %c = load float, ptr addrspace(3) @parts, align 4
  %q = fdiv float %c, %f
  %w = fmul float %q, %m
  %po = getelementptr inbounds nuw float, ptr addrspace(1) %out, i64 %i
  store float %w, ptr addrspace(1) %po, align 4
  br label %end

end:                                              ; preds = %store, %meet
  ret void
}

define ptx_kernel void @rows(ptr addrspace(1) align 4 %out, i32 %n, i32 %m) #0 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %rests = icmp sge i32 %t, %n
  br label %row

row:                                              ; preds = %last, %entry
  %k = phi i32 [ 0, %entry ], [ %next, %last ]
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %a = load float, ptr addrspace(3) @parts, align 4
  %r = call float @llvm.sqrt.f32(float %a)
  br i1 %rests, label %last, label %store

store:                                            ; preds = %row
  store float %r, ptr addrspace(1) %out, align 4
  br label %last

last:                                             ; preds = %store, %row
  %next = add nuw nsw i32 %k, 1
  %more = icmp slt i32 %next, %m
  br i1 %more, label %row, label %end

end:                                              ; preds = %last
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare float @llvm.sqrt.f32(float)

attributes #0 = { nounwind }
