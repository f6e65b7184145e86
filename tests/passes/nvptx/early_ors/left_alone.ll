; opt=3
; Left alone: conditions of three blocks, and those of which one is made in a loop.
define ptx_kernel void @k(ptr addrspace(1) align 4 %out, ptr addrspace(1) align 4 %x, i32 %cols, i1 %flag) #0 {
entry:
  %v0 = load i32, ptr addrspace(1) %x, align 4
  %p0 = icmp sgt i32 %v0, 0
  br i1 %flag, label %load1, label %join1

load1:
  %x1 = getelementptr i8, ptr addrspace(1) %x, i64 4
  %l1 = load i32, ptr addrspace(1) %x1, align 4
  br label %join1

join1:
  %v1 = phi i32 [ -1, %entry ], [ %l1, %load1 ]
  %p1 = icmp sgt i32 %v1, %v0
  br i1 %p1, label %load2, label %join2

load2:
  %x2 = getelementptr i8, ptr addrspace(1) %x, i64 8
  %l2 = load i32, ptr addrspace(1) %x2, align 4
  br label %join2

join2:
  %v2 = phi i32 [ -1, %join1 ], [ %l2, %load2 ]
  %p2 = icmp sgt i32 %v2, %v1
  %any2 = select i1 %p2, i1 true, i1 %p1
  %any = select i1 %any2, i1 true, i1 %p0
  %where = select i1 %any, i32 %v2, i32 -1
  store i32 %where, ptr addrspace(1) %out, align 4
  br label %walk

walk:
  %k = phi i32 [ 0, %join2 ], [ %k.next, %walk ]
  %at = getelementptr i32, ptr addrspace(1) %x, i32 %k
  %l3 = load i32, ptr addrspace(1) %at, align 4
  %p3 = icmp sgt i32 %l3, %v2
  %k.next = add nuw nsw i32 %k, 1
  %more = icmp slt i32 %k.next, %cols
  br i1 %more, label %walk, label %end

end:
  %all1 = or i1 %p3, %p2
  %all2 = or i1 %all1, %p1
  %all = or i1 %all2, %p0
  %last = select i1 %all, i32 %l3, i32 -1
  %out1 = getelementptr i8, ptr addrspace(1) %out, i64 4
  store i32 %last, ptr addrspace(1) %out1, align 4
  ret void
}

attributes #0 = { nounwind }
