; opt=3
@tile = internal addrspace(3) global [4224 x i8] poison, align 4

define ptx_kernel void @k(ptr addrspace(1) align 4 %x, i32 %tx, i32 %ty, i32 %n) #0 {
entry:
  %p = icmp ult i32 %ty, %n
  br i1 %p, label %first, label %a

first:                                            ; preds = %entry
  %m0 = mul nuw nsw i32 %ty, 33
  %s0 = add nuw nsw i32 %m0, %tx
  %w0 = sext i32 %s0 to i64
  %g0 = getelementptr inbounds nuw float, ptr addrspace(3) @tile, i64 %w0
  store float 0.000000e+00, ptr addrspace(3) %g0, align 4
  br label %a

a:                                                ; preds = %entry, %first
  %q = icmp ult i32 %tx, %n
  br i1 %q, label %second, label %b

second:                                           ; preds = %a
  %m1 = mul nuw nsw i32 %ty, 33
  %r1 = add nuw nsw i32 %m1, 264
  %s1 = add nuw nsw i32 %r1, %tx
  %w1 = sext i32 %s1 to i64
  %g1 = getelementptr inbounds nuw float, ptr addrspace(3) @tile, i64 %w1
  store float 1.000000e+00, ptr addrspace(3) %g1, align 4
  br label %b

b:                                                ; preds = %a, %second
  %c = icmp ult i32 %n, 7
  br i1 %c, label %other, label %end

other:                                            ; preds = %b
  %m2 = mul nuw nsw i32 %ty, 34
  %s2 = add nuw nsw i32 %m2, %tx
  %w2 = sext i32 %s2 to i64
  %g2 = getelementptr inbounds nuw float, ptr addrspace(3) @tile, i64 %w2
  store float 2.000000e+00, ptr addrspace(3) %g2, align 4
  %v = load i32, ptr addrspace(1) %x, align 4
  %m3 = mul nsw i32 %v, 33
  %w3 = sext i32 %m3 to i64
  %g3 = getelementptr inbounds float, ptr addrspace(3) @tile, i64 %w3
  store float 3.000000e+00, ptr addrspace(3) %g3, align 4
  br label %end

end:                                              ; preds = %b, %other
  ret void
}

attributes #0 = { nounwind }
