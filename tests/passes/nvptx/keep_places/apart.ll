; opt=3
define ptx_kernel void @k(ptr addrspace(1) noalias align 4 %0, ptr addrspace(1) noalias align 4 %1, i1 %2) #0 {
entry:
  %a = load i32, ptr addrspace(1) %0, align 4
  br i1 %2, label %then, label %join
then:
  store i32 1, ptr addrspace(1) %1, align 4
  br label %join
join:
  store i32 %a, ptr addrspace(1) %1, align 4
  ret void
}
attributes #0 = { nounwind }
