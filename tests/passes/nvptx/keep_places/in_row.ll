; opt=3
; A chunk of a row in each iteration, behind a bound: the address of the load is computed in front of
; it, since its index is the sum of a place and the row's begin, a product. That of an index that is
; no such sum stays behind the bound.
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()

define ptx_kernel void @chunks(ptr addrspace(1) align 4 %x, ptr addrspace(1) align 4 %y, i32 %n) #0 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %row = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %begin = mul i32 %row, %n
  br label %chunk

chunk:                                            ; preds = %entry, %next
  %start = phi i32 [ 0, %entry ], [ %start1, %next ]
  %k = add i32 %start, %t
  %in = icmp slt i32 %k, %n
  br i1 %in, label %load, label %loaded

load:                                             ; preds = %chunk
  %at = add i32 %k, %begin
  %wide = sext i32 %at to i64
  %p = getelementptr inbounds float, ptr addrspace(1) %x, i64 %wide
  %v = load float, ptr addrspace(1) %p, align 4
  br label %loaded

loaded:                                           ; preds = %chunk, %load
  %a = phi float [ 0.000000e+00, %chunk ], [ %v, %load ]
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %in, label %store, label %next

store:                                            ; preds = %loaded
  %to = add i32 %k, %begin
  %wide1 = sext i32 %to to i64
  %r = getelementptr inbounds float, ptr addrspace(1) %y, i64 %wide1
  store float %a, ptr addrspace(1) %r, align 4
  br label %next

next:                                             ; preds = %loaded, %store
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %start1 = add i32 %start, 256
  %more = icmp slt i32 %start1, %n
  br i1 %more, label %chunk, label %end

end:                                              ; preds = %next
  ret void
}

define ptx_kernel void @whole(ptr addrspace(1) align 4 %x, ptr addrspace(1) align 4 %y, i32 %n) #0 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %chunk

chunk:                                            ; preds = %entry, %next
  %start = phi i32 [ 0, %entry ], [ %start1, %next ]
  %k = add i32 %start, %t
  %in = icmp slt i32 %k, %n
  br i1 %in, label %load, label %loaded

load:                                             ; preds = %chunk
  %wide = sext i32 %k to i64
  %p = getelementptr inbounds float, ptr addrspace(1) %x, i64 %wide
  %v = load float, ptr addrspace(1) %p, align 4
  br label %loaded

loaded:                                           ; preds = %chunk, %load
  %a = phi float [ 0.000000e+00, %chunk ], [ %v, %load ]
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %in, label %store, label %next

store:                                            ; preds = %loaded
  %wide1 = sext i32 %k to i64
  %r = getelementptr inbounds float, ptr addrspace(1) %y, i64 %wide1
  store float %a, ptr addrspace(1) %r, align 4
  br label %next

next:                                             ; preds = %loaded, %store
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %start1 = add i32 %start, 256
  %more = icmp slt i32 %start1, %n
  br i1 %more, label %chunk, label %end

end:                                              ; preds = %next
  ret void
}

attributes #0 = { nounwind }
