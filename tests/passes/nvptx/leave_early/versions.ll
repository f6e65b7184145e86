; opt=3
; Behind the barrier threads without an element leave; the questions further down are gone. The condition of the second kernel is computed in front of the root.
@parts = internal addrspace(3) global [8 x i8] poison, align 4

define ptx_kernel void @versions(ptr addrspace(1) align 4 %x, i32 range(i32 0, -2147483648) %n, i32 range(i32 0, -2147483648) %m, ptr addrspace(1) align 4 %out) #0 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %has = icmp samesign ult i32 %t, %n
  %i = zext nneg i32 %t to i64
  %p = getelementptr inbounds nuw float, ptr addrspace(3) @parts, i64 %i
  store float 1.000000e+00, ptr addrspace(3) %p, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %a = load float, ptr addrspace(3) @parts, align 4
  %b = load float, ptr addrspace(3) getelementptr inbounds nuw (i8, ptr addrspace(3) @parts, i64 4), align 4
  %s = fadd float %a, %b
  %r = call float @llvm.sqrt.f32(float %s)
  %q = fdiv float 1.000000e+00, %r
  %few = icmp eq i32 %m, 0
  br i1 %few, label %one, label %other

one:                                              ; preds = %entry
  br i1 %has, label %store, label %end

store:                                            ; preds = %one
  %po = getelementptr inbounds nuw float, ptr addrspace(1) %out, i64 %i
  store float %q, ptr addrspace(1) %po, align 4
  br label %end

other:                                            ; preds = %entry
  br i1 %has, label %twice, label %end

twice:                                            ; preds = %other
  %d = fadd float %q, %q
  %pt = getelementptr inbounds nuw float, ptr addrspace(1) %out, i64 %i
  store float %d, ptr addrspace(1) %pt, align 4
  br label %end

end:                                              ; preds = %twice, %other, %store, %one
  ret void
}

define ptx_kernel void @late(ptr addrspace(1) align 4 %x, i32 range(i32 0, -2147483648) %n, ptr addrspace(1) align 4 %out) #0 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %a = load float, ptr addrspace(3) @parts, align 4
  %r = call float @llvm.sqrt.f32(float %a)
  %m = sub nsw i32 %n, 1
  %rests = icmp sge i32 %t, %m
  br i1 %rests, label %end, label %store

store:                                            ; preds = %entry
  %i = zext nneg i32 %t to i64
  %po = getelementptr inbounds nuw float, ptr addrspace(1) %out, i64 %i
  store float %r, ptr addrspace(1) %po, align 4
  br label %end

end:                                              ; preds = %store, %entry
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare float @llvm.sqrt.f32(float)

attributes #0 = { nounwind }
