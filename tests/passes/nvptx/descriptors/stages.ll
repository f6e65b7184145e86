; opt=3
@tiles = external addrspace(3) global [0 x i8], align 1024

declare i64 @pyptx.tile_descriptor(ptr addrspace(3), i64) #1

; a stage, rows that are known outside of the loop, and constants; and an address that is no sum of multiples of 16
define ptx_kernel void @k(i32 %0, i64 %1, i64 %2) #0 {
entry:
  %3 = getelementptr i8, ptr addrspace(3) @tiles, i64 %2
  br label %loop

loop:                                             ; preds = %loop, %entry
  %4 = phi i32 [ 0, %entry ], [ %16, %loop ]
  %5 = shl nuw nsw i32 %4, 14
  %6 = zext nneg i32 %5 to i64
  %7 = getelementptr i8, ptr addrspace(3) %3, i64 %6
  %8 = mul i64 %1, 128
  %9 = getelementptr i8, ptr addrspace(3) %7, i64 %8
  %10 = call i64 @pyptx.tile_descriptor(ptr addrspace(3) %9, i64 4611686293305360384)
  call void asm sideeffect "first $0;", "l,~{memory}"(i64 %10)
  %11 = getelementptr i8, ptr addrspace(3) %9, i64 32
  %12 = call i64 @pyptx.tile_descriptor(ptr addrspace(3) %11, i64 4611686293305360384)
  call void asm sideeffect "second $0;", "l,~{memory}"(i64 %12)
  %13 = mul i64 %1, 8
  %14 = getelementptr i8, ptr addrspace(3) @tiles, i64 %13
  %15 = call i64 @pyptx.tile_descriptor(ptr addrspace(3) %14, i64 4611686293305360384)
  call void asm sideeffect "third $0;", "l,~{memory}"(i64 %15)
  %16 = add nuw nsw i32 %4, 1
  %17 = icmp slt i32 %16, %0
  br i1 %17, label %loop, label %done

done:                                             ; preds = %loop
  ret void
}

attributes #0 = { nounwind }
attributes #1 = { nofree nosync nounwind willreturn memory(none) }
