; opt=3
@tiles = external addrspace(3) global [0 x i8], align 1024

declare i64 @pyptx.tile_descriptor(ptr addrspace(3), i64) #1

; a product that may wrap around before it is extended, and constants that are no multiples of 16, stay in the address; the distance of parts is
; known at run time only
define ptx_kernel void @k(i32 %0, i64 %1) #0 {
entry:
  %2 = shl i32 %0, 14
  %3 = zext i32 %2 to i64
  %4 = getelementptr i8, ptr addrspace(3) @tiles, i64 %3
  %5 = call i64 @pyptx.tile_descriptor(ptr addrspace(3) %4, i64 %1)
  call void asm sideeffect "first $0;", "l,~{memory}"(i64 %5)
  %6 = getelementptr i8, ptr addrspace(3) %4, i64 24
  %7 = getelementptr i8, ptr addrspace(3) %6, i64 4096
  %8 = call i64 @pyptx.tile_descriptor(ptr addrspace(3) %7, i64 %1)
  call void asm sideeffect "second $0;", "l,~{memory}"(i64 %8)
  ret void
}

attributes #0 = { nounwind }
attributes #1 = { nofree nosync nounwind willreturn memory(none) }
