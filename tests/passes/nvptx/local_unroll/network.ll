; opt=3
; A sorting network: 1 + 2 stages with a barrier each, which counters alone end.
@tile = internal addrspace(3) global [8 x i32] poison, align 4

define ptx_kernel void @k(ptr addrspace(1) align 4 %x) #0 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %twice = shl nuw nsw i32 %t, 1
  br label %outer

outer:                                            ; preds = %behind, %entry
  %size = phi i32 [ 2, %entry ], [ %size.2, %behind ]
  %first = lshr i32 %size, 1
  br label %inner

inner:                                            ; preds = %join, %outer
  %stride = phi i32 [ %first, %outer ], [ %half, %join ]
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %mask = add i32 %stride, -1
  %rest = and i32 %t, %mask
  %at = sub nuw nsw i32 %twice, %rest
  %other = add nuw nsw i32 %at, %stride
  %at.wide = zext nneg i32 %at to i64
  %p = getelementptr inbounds i32, ptr addrspace(3) @tile, i64 %at.wide
  %a = load i32, ptr addrspace(3) %p, align 4
  %other.wide = zext nneg i32 %other to i64
  %q = getelementptr inbounds i32, ptr addrspace(3) @tile, i64 %other.wide
  %b = load i32, ptr addrspace(3) %q, align 4
  %more = icmp sgt i32 %a, %b
  br i1 %more, label %exchange, label %join

exchange:                                         ; preds = %inner
  store i32 %b, ptr addrspace(3) %p, align 4
  store i32 %a, ptr addrspace(3) %q, align 4
  br label %join

join:                                             ; preds = %exchange, %inner
  %half = lshr i32 %stride, 1
  %on = icmp ne i32 %half, 0
  br i1 %on, label %inner, label %behind

behind:                                           ; preds = %join
  %size.2 = shl nuw nsw i32 %size, 1
  %again = icmp ult i32 %size.2, 5
  br i1 %again, label %outer, label %done

done:                                             ; preds = %behind
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)

attributes #0 = { nounwind }
