; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 1 %x, i1 %c, i64 %total, ptr addrspace(1) align 8 %out) #0 {
entry:
  %a = load i8, ptr addrspace(1) %x, align 1
  %p.b = getelementptr i8, ptr addrspace(1) %x, i64 1
  %b = load i8, ptr addrspace(1) %p.b, align 1
  br i1 %c, label %more, label %sum

more:                                             ; preds = %entry
  %p.m = getelementptr i8, ptr addrspace(1) %x, i64 2
  %m = load i8, ptr addrspace(1) %p.m, align 1
  %m.wide = zext i8 %m to i32
  br label %sum

sum:                                              ; preds = %more, %entry
  %masked = phi i32 [ %m.wide, %more ], [ 0, %entry ]
  %a.wide = zext i8 %a to i64
  %s.1 = add i64 %total, %a.wide
  %b.wide = sext i8 %b to i64
  %s.2 = add i64 %b.wide, %s.1
  %masked.wide = zext i32 %masked to i64
  %s.3 = add i64 %s.2, %masked.wide
  store i64 %s.3, ptr addrspace(1) %out, align 8
  %lone = add i64 %a.wide, 7
  %p.out = getelementptr i8, ptr addrspace(1) %out, i64 8
  store i64 %lone, ptr addrspace(1) %p.out, align 8
  ret void
}

attributes #0 = { nounwind }

