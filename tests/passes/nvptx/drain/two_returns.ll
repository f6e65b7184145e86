; opt=3
define ptx_kernel void @k(ptr addrspace(1) %0, i32 %1) #0 {
entry:
  %2 = icmp sgt i32 %1, 0
  br i1 %2, label %copy, label %none

copy:                                             ; preds = %entry
  %3 = ptrtoint ptr addrspace(1) %0 to i64
  call void asm sideeffect "cp.async.bulk.global.shared::cta.bulk_group [$0], [$1], $2;", "l,r,r,~{memory}"(i64 %3, i32 0, i32 16)
  ret void

none:                                             ; preds = %entry
  ret void
}

attributes #0 = { nounwind }
