; The product stays, since floor and the store read it; both sums take it as it was rounded.
declare float @llvm.floor.f32(float)

define ptx_kernel void @k(ptr addrspace(1) %p, float %x, float %s) {
  %m = fmul contract float %x, %s
  %f = call float @llvm.floor.f32(float %m)
  %u = fsub contract float %m, %f
  store float %u, ptr addrspace(1) %p
  %v = fadd contract float %m, %x
  %q = getelementptr float, ptr addrspace(1) %p, i64 1
  store float %v, ptr addrspace(1) %q
  ret void
}
