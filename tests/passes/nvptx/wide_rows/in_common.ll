; opt=3
; A row of four numbers that all threads read, in each iteration.
define ptx_kernel void @k(ptr addrspace(1) align 4 %spheres, i32 %count, ptr addrspace(1) align 4 %out) #0 {
entry:
  br label %loop

loop:
  %k = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %s3, %loop ]
  %n = shl nuw nsw i32 %k, 2
  %i = sext i32 %n to i64
  %p = getelementptr float, ptr addrspace(1) %spheres, i64 %i
  %a = load float, ptr addrspace(1) %p, align 4
  %p1 = getelementptr inbounds nuw i8, ptr addrspace(1) %p, i64 4
  %b = load float, ptr addrspace(1) %p1, align 4
  %p2 = getelementptr inbounds nuw i8, ptr addrspace(1) %p, i64 8
  %c = load float, ptr addrspace(1) %p2, align 4
  %p3 = getelementptr inbounds nuw i8, ptr addrspace(1) %p, i64 12
  %d = load float, ptr addrspace(1) %p3, align 4
  %s = fmul float %a, %b
  %s1 = fmul float %c, %d
  %s2 = fadd float %s, %s1
  %s3 = fadd float %sum, %s2
  %next = add nuw nsw i32 %k, 1
  %ends = icmp eq i32 %next, %count
  br i1 %ends, label %done, label %loop

done:
  store float %s3, ptr addrspace(1) %out, align 4
  ret void
}

attributes #0 = { nounwind }
