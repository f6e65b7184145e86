; more additions than the code generator's own passes can be let loose on
define ptx_kernel void @k(ptr addrspace(1) %x) {
entry:
  %v0 = load volatile i32, ptr addrspace(1) %x
;times 701
  %a# = add i32 %v0, #
  ret void
}
