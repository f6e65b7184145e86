; opt=3
; Nothing moves: a lane's question; an element that decides; an atomic addition, or a loop, in front of the question; work that is little; a number that others read behind where threads meet; no barrier.
@parts = internal addrspace(3) global [8 x i8] poison, align 4

define ptx_kernel void @lane(ptr addrspace(1) align 4 %out) #0 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %lane = and i32 %t, 31
  %rests = icmp ne i32 %lane, 0
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %a = load float, ptr addrspace(3) @parts, align 4
  %r = call float @llvm.sqrt.f32(float %a)
  br i1 %rests, label %end, label %store

store:                                            ; preds = %entry
  store float %r, ptr addrspace(1) %out, align 4
  br label %end

end:                                              ; preds = %store, %entry
  ret void
}

define ptx_kernel void @element(ptr addrspace(1) align 4 %out) #0 {
entry:
  %e = load i32, ptr addrspace(1) %out, align 4
  %rests = icmp ne i32 %e, 0
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %a = load float, ptr addrspace(3) @parts, align 4
  %r = call float @llvm.sqrt.f32(float %a)
  br i1 %rests, label %end, label %store

store:                                            ; preds = %entry
  store float %r, ptr addrspace(1) %out, align 4
  br label %end

end:                                              ; preds = %store, %entry
  ret void
}

define ptx_kernel void @atomic(ptr addrspace(1) align 4 %out, i32 %n) #0 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %rests = icmp sge i32 %t, %n
  %a = load float, ptr addrspace(3) @parts, align 4
  %r = call float @llvm.sqrt.f32(float %a)
  %old = atomicrmw add ptr addrspace(1) %out, i32 1 monotonic, align 4
  br i1 %rests, label %end, label %store

store:                                            ; preds = %entry
  store float %r, ptr addrspace(1) %out, align 4
  br label %end

end:                                              ; preds = %store, %entry
  ret void
}

define ptx_kernel void @loop(ptr addrspace(1) align 4 %out, i32 %n, i32 %m) #0 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %rests = icmp sge i32 %t, %n
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %sum

sum:                                              ; preds = %sum, %entry
  %k = phi i32 [ 0, %entry ], [ %next, %sum ]
  %s = phi float [ 0.000000e+00, %entry ], [ %r, %sum ]
  %a = load float, ptr addrspace(3) @parts, align 4
  %d = fadd float %s, %a
  %r = call float @llvm.sqrt.f32(float %d)
  %next = add nuw nsw i32 %k, 1
  %more = icmp slt i32 %next, %m
  br i1 %more, label %sum, label %ask

ask:                                              ; preds = %sum
  br i1 %rests, label %end, label %store

store:                                            ; preds = %ask
  store float %r, ptr addrspace(1) %out, align 4
  br label %end

end:                                              ; preds = %store, %ask
  ret void
}

define ptx_kernel void @little(ptr addrspace(1) align 4 %out, i32 %n) #0 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %rests = icmp sge i32 %t, %n
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %a = load float, ptr addrspace(3) @parts, align 4
  %d = fadd float %a, %a
  br i1 %rests, label %end, label %store

store:                                            ; preds = %entry
  store float %d, ptr addrspace(1) %out, align 4
  br label %end

end:                                              ; preds = %store, %entry
  ret void
}

define ptx_kernel void @read(ptr addrspace(1) align 4 %out, i32 %n, i32 %m) #0 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %rests = icmp sge i32 %t, %n
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %a = load float, ptr addrspace(3) @parts, align 4
  %r = call float @llvm.sqrt.f32(float %a)
  br i1 %rests, label %meet, label %store

store:                                            ; preds = %entry
  store float %r, ptr addrspace(1) %out, align 4
  br label %meet

meet:                                             ; preds = %store, %entry
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  store float %r, ptr addrspace(1) %out, align 4
  ret void
}

define ptx_kernel void @alone(ptr addrspace(1) align 4 %out, i32 %n, i32 %m) #0 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %rests = icmp sge i32 %t, %n
  store float 0.000000e+00, ptr addrspace(1) %out, align 4
  %a = load float, ptr addrspace(3) @parts, align 4
  %r = call float @llvm.sqrt.f32(float %a)
  br i1 %rests, label %meet, label %store

store:                                            ; preds = %entry
  store float %r, ptr addrspace(1) %out, align 4
  br label %meet

meet:                                             ; preds = %store, %entry
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare float @llvm.sqrt.f32(float)

attributes #0 = { nounwind }
