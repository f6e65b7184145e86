; opt=3
; threads read @a, and by a call perhaps @b; of @c only matrix operations read
@a = internal addrspace(3) global [64 x float] undef, align 128
@b = internal addrspace(3) global [64 x float] undef, align 128
@c = internal addrspace(3) global [64 x float] undef, align 128
@bars = internal addrspace(3) global [2 x i64] undef, align 8

define ptx_kernel void @k(ptr addrspace(1) %0, i32 %1) #0 {
entry:
  %2 = getelementptr float, ptr addrspace(3) @a, i32 %1
  %3 = load float, ptr addrspace(3) %2, align 4
  store float %3, ptr addrspace(1) %0, align 4
  call void asm sideeffect "bar.warp.sync -1;", "~{memory}"()
  %4 = ptrtoint ptr addrspace(1) %0 to i64
  %5 = mul i32 %1, 64
  %6 = add i32 ptrtoint (ptr addrspace(3) @a to i32), %5
  call void asm sideeffect "mbarrier.arrive.expect_tx.shared.b64 _, [$0], $1;", "r,r,~{memory}"(i32 ptrtoint (ptr addrspace(3) @bars to i32), i32 128)
  call void asm sideeffect "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1], $2, [$3];", "r,l,r,r,~{memory}"(i32 %6, i64 %4, i32 64, i32 ptrtoint (ptr addrspace(3) @bars to i32))
  call void asm sideeffect "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1], $2, [$3];", "r,l,r,r,~{memory}"(i32 ptrtoint (ptr addrspace(3) @b to i32), i64 %4, i32 64, i32 ptrtoint (ptr addrspace(3) @bars to i32))
  call void @f(ptr addrspace(3) @b)
  call void asm sideeffect "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1], $2, [$3];", "r,l,r,r,~{memory}"(i32 ptrtoint (ptr addrspace(3) @b to i32), i64 %4, i32 64, i32 ptrtoint (ptr addrspace(3) @bars to i32))
  call void asm sideeffect "wgmma.fence.sync.aligned;", "r,~{memory}"(i32 ptrtoint (ptr addrspace(3) @c to i32))
  call void asm sideeffect "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1], $2, [$3];", "r,l,r,r,~{memory}"(i32 ptrtoint (ptr addrspace(3) @c to i32), i64 %4, i32 64, i32 ptrtoint (ptr addrspace(3) @bars to i32))
  ret void
}

define internal void @f(ptr addrspace(3) %0) #0 {
  ret void
}

attributes #0 = { noinline nounwind }
