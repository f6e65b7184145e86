; opt=3
; Rows of a tile that a loop walked, (z * 7 + k) * 7 + x: one address and offsets. A constant that is added last
; stays, which the code generator sees, and so does a product with a number.
@tile = internal addrspace(3) global [2744 x i8] poison, align 8

define ptx_kernel void @k(i32 %x, i32 %z, i32 %n, ptr addrspace(1) align 8 %out) #0 {
entry:
  %plane = mul nuw nsw i32 %z, 7
  %r0 = mul nuw nsw i32 %plane, 7
  %i0 = add nuw nsw i32 %r0, %x
  %w0 = sext i32 %i0 to i64
  %p0 = getelementptr inbounds nuw double, ptr addrspace(3) @tile, i64 %w0
  %a = load double, ptr addrspace(3) %p0, align 8
  %k1 = add nuw nsw i32 %plane, 1
  %r1 = mul nuw nsw i32 %k1, 7
  %i1 = add nuw nsw i32 %r1, %x
  %w1 = sext i32 %i1 to i64
  %p1 = getelementptr inbounds nuw double, ptr addrspace(3) @tile, i64 %w1
  %b = load double, ptr addrspace(3) %p1, align 8
  %k2 = add nsw i32 %plane, -2
  %r2 = mul nsw i32 %k2, 7
  %i2 = add nsw i32 %r2, %x
  %w2 = sext i32 %i2 to i64
  %p2 = getelementptr inbounds double, ptr addrspace(3) @tile, i64 %w2
  %c = load double, ptr addrspace(3) %p2, align 8
  %i3 = add nuw nsw i32 %i0, 3
  %w3 = sext i32 %i3 to i64
  %p3 = getelementptr inbounds nuw double, ptr addrspace(3) @tile, i64 %w3
  %d = load double, ptr addrspace(3) %p3, align 8
  %r4 = mul nuw nsw i32 %k1, %n
  %i4 = add nuw nsw i32 %r4, %x
  %w4 = sext i32 %i4 to i64
  %p4 = getelementptr inbounds nuw double, ptr addrspace(3) @tile, i64 %w4
  %e = load double, ptr addrspace(3) %p4, align 8
  %ab = fadd double %a, %b
  %cd = fadd double %c, %d
  %abcd = fadd double %ab, %cd
  %all = fadd double %abcd, %e
  store double %all, ptr addrspace(1) %out, align 8
  ret void
}

attributes #0 = { nounwind }
