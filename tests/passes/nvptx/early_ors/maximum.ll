; opt=3
; The greatest of five numbers, four of them behind conditions, and the row in which it is: whether
; any of the comparisons holds is known after each of them. One of them is an or by itself.
define ptx_kernel void @k(ptr addrspace(1) align 4 %out, ptr addrspace(1) align 4 %x, i32 %cols, i32 %row) #0 {
entry:
  %v0 = load i32, ptr addrspace(1) %x, align 4
  %p0 = icmp sgt i32 %v0, 0
  %best0 = call i32 @llvm.smax.i32(i32 %v0, i32 0)
  %c1 = icmp sgt i32 %cols, 1
  br i1 %c1, label %load1, label %join1

load1:
  %x1 = getelementptr i8, ptr addrspace(1) %x, i64 4
  %l1 = load i32, ptr addrspace(1) %x1, align 4
  br label %join1

join1:
  %v1 = phi i32 [ -1, %entry ], [ %l1, %load1 ]
  %p1 = icmp sgt i32 %v1, %best0
  %best1 = call i32 @llvm.smax.i32(i32 %v1, i32 %best0)
  %c2 = icmp sgt i32 %cols, 2
  br i1 %c2, label %load2, label %join2

load2:
  %x2 = getelementptr i8, ptr addrspace(1) %x, i64 8
  %l2 = load i32, ptr addrspace(1) %x2, align 4
  br label %join2

join2:
  %v2 = phi i32 [ -1, %join1 ], [ %l2, %load2 ]
  %p2 = icmp sgt i32 %v2, %best1
  %p12 = select i1 %p2, i1 true, i1 %p1
  %best2 = call i32 @llvm.smax.i32(i32 %v2, i32 %best1)
  %c3 = icmp sgt i32 %cols, 3
  br i1 %c3, label %load3, label %join3

load3:
  %x3 = getelementptr i8, ptr addrspace(1) %x, i64 12
  %l3 = load i32, ptr addrspace(1) %x3, align 4
  br label %join3

join3:
  %v3 = phi i32 [ -1, %join2 ], [ %l3, %load3 ]
  %p3 = icmp sgt i32 %v3, %best2
  %best3 = call i32 @llvm.smax.i32(i32 %v3, i32 %best2)
  %any3 = select i1 %p3, i1 true, i1 %p12
  %any = or i1 %any3, %p0
  %where = select i1 %any, i32 %row, i32 -1
  store i32 %best3, ptr addrspace(1) %out, align 4
  %out1 = getelementptr i8, ptr addrspace(1) %out, i64 4
  store i32 %where, ptr addrspace(1) %out1, align 4
  ret void
}

declare i32 @llvm.smax.i32(i32, i32)

attributes #0 = { nounwind }
