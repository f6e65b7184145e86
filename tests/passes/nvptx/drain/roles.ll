; opt=3
; a warp that only reads returns by itself; a call may store
define ptx_kernel void @k(ptr addrspace(1) %0, i32 %1) #0 {
entry:
  switch i32 %1, label %end [
    i32 0, label %read
    i32 1, label %write
    i32 2, label %call
  ]

read:                                             ; preds = %entry
  call void asm sideeffect "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1], $2, [$3];", "r,l,r,r,~{memory}"(i32 0, i64 0, i32 16, i32 64)
  br label %end

write:                                            ; preds = %entry
  %2 = ptrtoint ptr addrspace(1) %0 to i64
  call void asm sideeffect "cp.async.bulk.global.shared::cta.bulk_group [$0], [$1], $2;", "l,r,r,~{memory}"(i64 %2, i32 0, i32 16)
  br label %end

call:                                             ; preds = %entry
  call void @f()
  br label %end

end:                                              ; preds = %call, %write, %read, %entry
  ret void
}

define internal void @f() #0 {
  ret void
}

attributes #0 = { noinline nounwind }
