; opt=3
; Dynamic shared memory, whose size is not known here, global memory, and a place that may be outside of the tile
; stay as they are; a column that is a constant alone has an offset.
@tile = internal addrspace(3) global [1024 x i8] poison, align 4
@dynamic = external addrspace(3) global [0 x i8], align 16

define ptx_kernel void @k(i32 %x, ptr addrspace(1) align 4 %in, ptr addrspace(1) align 4 %out) #0 {
entry:
  %row = add nuw nsw i32 %x, 1
  %r = mul nuw nsw i32 %row, 16
  %w = sext i32 %r to i64
  %p = getelementptr inbounds float, ptr addrspace(3) @dynamic, i64 %w
  %a = load float, ptr addrspace(3) %p, align 4
  %q = getelementptr inbounds float, ptr addrspace(1) %in, i64 %w
  %b = load float, ptr addrspace(1) %q, align 4
  %s = getelementptr float, ptr addrspace(3) @tile, i64 %w
  %c = load float, ptr addrspace(3) %s, align 4
  %t = getelementptr inbounds float, ptr addrspace(3) @tile, i64 %w
  %d = load float, ptr addrspace(3) %t, align 4
  %ab = fadd float %a, %b
  %cd = fadd float %c, %d
  %all = fadd float %ab, %cd
  store float %all, ptr addrspace(1) %out, align 4
  ret void
}

attributes #0 = { nounwind }
