; opt=3
; Products of one counter plus constants behind conditions: one address, and distances from it. Not where the product may be negative, nor where it may wrap around.
@tile = internal addrspace(3) global [256 x float] poison, align 4

define ptx_kernel void @k(ptr addrspace(1) align 4 %out, i32 %n, i32 %t) #0 {
entry:
  br label %loop

loop:                                             ; preds = %join, %entry
  %k = phi i32 [ 0, %entry ], [ %next, %join ]
  %total = phi float [ 0.000000e+00, %entry ], [ %sum, %join ]
  %first = or disjoint i32 %k, 1
  %second = add nuw nsw i32 %k, 2
  %a = icmp sgt i32 %first, %t
  br i1 %a, label %one, label %middle

one:                                              ; preds = %loop
  %p1 = shl nuw nsw i32 %first, 2
  %w1 = sext i32 %p1 to i64
  %g1 = getelementptr inbounds nuw float, ptr addrspace(3) @tile, i64 %w1
  %x1 = load float, ptr addrspace(3) %g1, align 4
  %q1 = mul nsw i32 %first, 3
  %v1 = sext i32 %q1 to i64
  %h1 = getelementptr inbounds float, ptr addrspace(3) @tile, i64 %v1
  %y1 = load float, ptr addrspace(3) %h1, align 4
  %r1 = shl i32 %first, 3
  %u1 = sext i32 %r1 to i64
  %i1 = getelementptr inbounds nuw float, ptr addrspace(3) @tile, i64 %u1
  %z1 = load float, ptr addrspace(3) %i1, align 4
  %s1 = fadd float %x1, %y1
  %t1 = fadd float %s1, %z1
  br label %middle

middle:                                           ; preds = %one, %loop
  %m = phi float [ %total, %loop ], [ %t1, %one ]
  %b = icmp sgt i32 %second, %t
  br i1 %b, label %two, label %join

two:                                              ; preds = %middle
  %p2 = shl nuw nsw i32 %second, 2
  %w2 = sext i32 %p2 to i64
  %g2 = getelementptr inbounds nuw float, ptr addrspace(3) @tile, i64 %w2
  %x2 = load float, ptr addrspace(3) %g2, align 4
  %q2 = mul nsw i32 %second, 3
  %v2 = sext i32 %q2 to i64
  %h2 = getelementptr inbounds float, ptr addrspace(3) @tile, i64 %v2
  %y2 = load float, ptr addrspace(3) %h2, align 4
  %r2 = shl i32 %second, 3
  %u2 = sext i32 %r2 to i64
  %i2 = getelementptr inbounds nuw float, ptr addrspace(3) @tile, i64 %u2
  %z2 = load float, ptr addrspace(3) %i2, align 4
  %s2 = fadd float %x2, %y2
  %t2 = fadd float %s2, %z2
  br label %join

join:                                             ; preds = %two, %middle
  %sum = phi float [ %m, %middle ], [ %t2, %two ]
  %next = add nuw nsw i32 %k, 4
  %again = icmp slt i32 %next, %n
  br i1 %again, label %loop, label %done

done:                                             ; preds = %join
  store float %sum, ptr addrspace(1) %out, align 4
  ret void
}

attributes #0 = { nounwind }
