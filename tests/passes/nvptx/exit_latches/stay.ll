; opt=3 before=llvm_rotate
; All that the first loop loads changes; the second stores; the third does not leave at its head.
define ptx_kernel void @k(ptr addrspace(1) noalias %x, ptr addrspace(1) %limit, i32 %n, ptr addrspace(1) %out) #0 {
entry:
  br label %head

head:
  %k = phi i32 [ 0, %entry ], [ %k.next, %body ]
  %more = icmp slt i32 %k, %n
  br i1 %more, label %body, label %second

body:
  %k.next = add nsw i32 %k, 1
  %px = getelementptr inbounds i32, ptr addrspace(1) %x, i32 %k
  %v = load i32, ptr addrspace(1) %px, align 4
  %found = icmp eq i32 %v, 7
  br i1 %found, label %second, label %head

second:
  br label %head2

head2:
  %j = phi i32 [ 0, %second ], [ %j.next, %body2 ]
  %more2 = icmp slt i32 %j, %n
  br i1 %more2, label %body2, label %third

body2:
  %j.next = add nsw i32 %j, 1
  %l = load i32, ptr addrspace(1) %limit, align 4
  %po = getelementptr inbounds i32, ptr addrspace(1) %out, i32 %j
  store i32 %l, ptr addrspace(1) %po, align 4
  %full = icmp sge i32 %j, %l
  br i1 %full, label %third, label %head2

third:
  br label %head3

head3:
  %q = phi i32 [ 0, %third ], [ %q.next, %body3 ]
  %odd = and i32 %q, 1
  %is = icmp eq i32 %odd, 0
  br i1 %is, label %even, label %body3

even:
  br label %body3

body3:
  %step = phi i32 [ 1, %head3 ], [ 3, %even ]
  %q.next = add nsw i32 %q, %step
  %l3 = load i32, ptr addrspace(1) %limit, align 4
  %full3 = icmp sge i32 %q.next, %l3
  br i1 %full3, label %end, label %head3

end:
  store i32 %q.next, ptr addrspace(1) %out, align 4
  ret void
}
attributes #0 = { nounwind }
