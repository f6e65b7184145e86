; In: two small terms of a sum, each behind a branch of its own, and a third one behind a branch of
;     another sum alone.
; Out: each of the two is 0 where its branch is not taken, and they are added up in 32 bits. The
;     third stays.
define ptx_kernel void @k(ptr addrspace(1) align 2 %a, ptr addrspace(1) align 8 %out, i64 %first, i64 %other, i1 %c, i1 %d, i1 %e) #0 {
entry:
  br i1 %c, label %add, label %join
add:
  %x = load i16, ptr addrspace(1) %a, align 2
  %wide = zext i16 %x to i64
  %one = add i64 %first, %wide
  br label %join
join:
  %sum = phi i64 [ %first, %entry ], [ %one, %add ]
  br i1 %d, label %join2, label %add2
add2:
  %p = getelementptr inbounds i8, ptr addrspace(1) %a, i64 2
  %y = load i16, ptr addrspace(1) %p, align 2
  %wide2 = zext i16 %y to i64
  %two = add i64 %wide2, %sum
  br label %join2
join2:
  %sum2 = phi i64 [ %two, %add2 ], [ %sum, %join ]
  br i1 %e, label %add3, label %join3
add3:
  %q = getelementptr inbounds i8, ptr addrspace(1) %a, i64 4
  %z = load i16, ptr addrspace(1) %q, align 2
  %wide3 = zext i16 %z to i64
  %three = add i64 %other, %wide3
  br label %join3
join3:
  %sum3 = phi i64 [ %other, %join2 ], [ %three, %add3 ]
  store i64 %sum2, ptr addrspace(1) %out, align 8
  %r = getelementptr inbounds i8, ptr addrspace(1) %out, i64 8
  store i64 %sum3, ptr addrspace(1) %r, align 8
  ret void
}

attributes #0 = { nounwind }
