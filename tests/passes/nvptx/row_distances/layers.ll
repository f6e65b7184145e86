; opt=3
; Points in front, two rows below, beside that in front, and beside; of two arrays.
define ptx_kernel void @layers(ptr addrspace(1) align 8 %u, i32 range(i32 0, -2147483648) %h, i32 range(i32 0, -2147483648) %w, ptr addrspace(1) align 8 %v, ptr addrspace(1) align 8 %out, i32 %z, i32 %y, i32 %x) #0 {
entry:
  %l = mul nsw i32 %z, %h
  %r = add nsw i32 %l, %y
  %m = mul nsw i32 %r, %w
  %i = add nsw i32 %m, %x
  %ie = sext i32 %i to i64
  %p = getelementptr inbounds double, ptr addrspace(1) %u, i64 %ie
  %here = load double, ptr addrspace(1) %p, align 8
  %z1 = add nsw i32 %z, -1
  %fl = mul nsw i32 %z1, %h
  %fr = add nsw i32 %fl, %y
  %fm = mul nsw i32 %fr, %w
  %fi = add nsw i32 %fm, %x
  %fe = sext i32 %fi to i64
  %fp = getelementptr inbounds double, ptr addrspace(1) %u, i64 %fe
  %front = load double, ptr addrspace(1) %fp, align 8
  %br = add nsw i32 %r, 2
  %bm = mul nsw i32 %br, %w
  %bi = add nsw i32 %bm, %x
  %be = sext i32 %bi to i64
  %bp = getelementptr inbounds double, ptr addrspace(1) %u, i64 %be
  %below = load double, ptr addrspace(1) %bp, align 8
  %x1 = add nsw i32 %x, 1
  %ci = add nsw i32 %fm, %x1
  %ce = sext i32 %ci to i64
  %cp = getelementptr inbounds double, ptr addrspace(1) %u, i64 %ce
  %corner = load double, ptr addrspace(1) %cp, align 8
  %ni = add nsw i32 %m, %x1
  %ne = sext i32 %ni to i64
  %np = getelementptr inbounds double, ptr addrspace(1) %u, i64 %ne
  %beside = load double, ptr addrspace(1) %np, align 8
  %vp = getelementptr inbounds double, ptr addrspace(1) %v, i64 %ie
  %vhere = load double, ptr addrspace(1) %vp, align 8
  %vfp = getelementptr inbounds double, ptr addrspace(1) %v, i64 %fe
  %vfront = load double, ptr addrspace(1) %vfp, align 8
  %s0 = fadd double %vhere, %vfront
  %s4 = fadd double %s0, %beside
  %s1 = fadd double %here, %front
  %s2 = fadd double %s1, %below
  %s3 = fadd double %s2, %corner
  %s5 = fadd double %s3, %s4
  store double %s5, ptr addrspace(1) %out, align 8
  ret void
}

attributes #0 = { nounwind }
