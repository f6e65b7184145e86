; opt=3
; an address whose array is not seen may be of any; without a read there is no fence
@a = internal addrspace(3) global [64 x float] undef, align 128

@b = internal addrspace(3) global [64 x float] undef, align 128

define ptx_kernel void @k(ptr addrspace(1) %0, i32 %1) #0 {
entry:
  %2 = getelementptr float, ptr addrspace(3) @a, i32 %1
  store float 1.000000e+00, ptr addrspace(3) %2, align 4
  %3 = ptrtoint ptr addrspace(1) %0 to i64
  call void asm sideeffect "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1], $2, [$3];", "r,l,r,r,~{memory}"(i32 ptrtoint (ptr addrspace(3) @a to i32), i64 %3, i32 64, i32 1024)
  call void @f(ptr addrspace(3) @a, i64 %3)
  ret void
}

define ptx_kernel void @perhaps(ptr addrspace(1) %0, ptr addrspace(3) %1, i1 %2) #0 {
entry:
  %3 = select i1 %2, ptr addrspace(3) @b, ptr addrspace(3) %1
  %4 = ptrtoint ptr addrspace(3) %3 to i32
  %5 = ptrtoint ptr addrspace(1) %0 to i64
  %6 = load float, ptr addrspace(3) @a, align 4
  store float %6, ptr addrspace(1) %0, align 4
  call void asm sideeffect "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1], $2, [$3];", "r,l,r,r,~{memory}"(i32 %4, i64 %5, i32 64, i32 1024)
  ret void
}

define internal void @f(ptr addrspace(3) %0, i64 %1) #0 {
  %3 = ptrtoint ptr addrspace(3) %0 to i32
  call void asm sideeffect "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1], $2, [$3];", "r,l,r,r,~{memory}"(i32 %3, i64 %1, i32 64, i32 1024)
  ret void
}

attributes #0 = { noinline nounwind }
