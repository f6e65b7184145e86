; opt=3
; @a: all ways on from its reads come to a fence before a barrier. @b: one way does not. @c: the barrier is first.
; @d: the thread may end without one.
@a = internal addrspace(3) global [64 x float] undef, align 128
@b = internal addrspace(3) global [64 x float] undef, align 128
@c = internal addrspace(3) global [64 x float] undef, align 128
@d = internal addrspace(3) global [64 x float] undef, align 128
@bars = internal addrspace(3) global [2 x i64] undef, align 8

define ptx_kernel void @k(ptr addrspace(1) %0, i32 %1, i32 %n) #0 {
entry:
  %pa = getelementptr float, ptr addrspace(3) @a, i32 %1
  %pb = getelementptr float, ptr addrspace(3) @b, i32 %1
  %pc = getelementptr float, ptr addrspace(3) @c, i32 %1
  %pd = getelementptr float, ptr addrspace(3) @d, i32 %1
  %start = icmp slt i32 %1, %n
  br i1 %start, label %loop, label %done

loop:
  %k = phi i32 [ 0, %entry ], [ %next, %loop ]
  %q = getelementptr float, ptr addrspace(3) %pa, i32 %k
  %va = load float, ptr addrspace(3) %q, align 4
  %x = fadd float %va, 1.000000e+00
  store float %x, ptr addrspace(3) %q, align 4
  %next = add i32 %k, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %after

after:
  call void asm sideeffect "fence.proxy.async.shared::cta;", "~{memory}"()
  br label %met

done:
  %va2 = load float, ptr addrspace(3) %pa, align 4
  store float %va2, ptr addrspace(1) %0, align 4
  call void asm sideeffect "fence.proxy.async;", "~{memory}"()
  br label %met

met:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %vb = load float, ptr addrspace(3) %pb, align 4
  store float %vb, ptr addrspace(1) %0, align 4
  br i1 %start, label %fences, label %not

fences:
  call void asm sideeffect "fence.proxy.async.shared::cta;", "~{memory}"()
  br label %not

not:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %vc = load float, ptr addrspace(3) %pc, align 4
  store float %vc, ptr addrspace(1) %0, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  call void asm sideeffect "fence.proxy.async.shared::cta;", "~{memory}"()
  %g = ptrtoint ptr addrspace(1) %0 to i64
  call void asm sideeffect "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1], $2, [$3];", "r,l,r,r,~{memory}"(i32 ptrtoint (ptr addrspace(3) @a to i32), i64 %g, i32 64, i32 ptrtoint (ptr addrspace(3) @bars to i32))
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  call void asm sideeffect "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1], $2, [$3];", "r,l,r,r,~{memory}"(i32 ptrtoint (ptr addrspace(3) @b to i32), i64 %g, i32 64, i32 ptrtoint (ptr addrspace(3) @bars to i32))
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  call void asm sideeffect "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1], $2, [$3];", "r,l,r,r,~{memory}"(i32 ptrtoint (ptr addrspace(3) @c to i32), i64 %g, i32 64, i32 ptrtoint (ptr addrspace(3) @bars to i32))
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  call void asm sideeffect "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1], $2, [$3];", "r,l,r,r,~{memory}"(i32 ptrtoint (ptr addrspace(3) @d to i32), i64 %g, i32 64, i32 ptrtoint (ptr addrspace(3) @bars to i32))
  %vd = load float, ptr addrspace(3) %pd, align 4
  store float %vd, ptr addrspace(1) %0, align 4
  ret void
}

declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)

attributes #0 = { nounwind }
