; opt=3
; Terms behind branches one after the other are added up in their branches; of a number of 32 bits that is not small, not.
define ptx_kernel void @k(ptr addrspace(1) align 1 %x, i1 %a, i1 %b, i1 %c, i64 %sum, i32 %any, ptr addrspace(1) align 8 %out) #0 {
entry:
  %v = load i8, ptr addrspace(1) %x, align 1
  %wide = zext i8 %v to i64
  br i1 %a, label %first, label %join

first:
  %s1 = add i64 %sum, %wide
  br label %join

join:
  %p1 = phi i64 [ %sum, %entry ], [ %s1, %first ]
  br i1 %b, label %second, label %join2

second:
  %s2 = add i64 %p1, %wide
  br label %join2

join2:
  %p2 = phi i64 [ %p1, %join ], [ %s2, %second ]
  br i1 %c, label %third, label %join3

third:
  %s3 = add i64 %p2, %wide
  br label %join3

join3:
  %p3 = phi i64 [ %p2, %join2 ], [ %s3, %third ]
  %large = phi i32 [ 0, %join2 ], [ %any, %third ]
  %w.large = sext i32 %large to i64
  %before = add i64 %p3, %w.large
  br i1 %a, label %fourth, label %join4

fourth:
  %s4 = add i64 %before, %wide
  br label %join4

join4:
  %p4 = phi i64 [ %before, %join3 ], [ %s4, %fourth ]
  store i64 %p4, ptr addrspace(1) %out, align 8
  ret void
}
attributes #0 = { nounwind }
