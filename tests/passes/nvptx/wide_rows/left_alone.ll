; opt=3
; Rows at places that were read, of which nothing is known in front of the loop; pairs that threads
; have side by side, by a variable that begins with their number; a loop that meets at a barrier.
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)

define ptx_kernel void @k(ptr addrspace(1) align 4 %rows, ptr addrspace(1) align 4 %at, i32 %width, ptr addrspace(1) align 4 %out) #0 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %o = zext nneg i32 %t to i64
  %pa = getelementptr i32, ptr addrspace(1) %at, i64 %o
  %start = load i32, ptr addrspace(1) %pa, align 4
  br label %loop

loop:
  %k = phi i32 [ 0, %entry ], [ %next, %loop ]
  %lane = phi i32 [ %t, %entry ], [ %further, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %s6, %loop ]
  %from = add i32 %k, %start
  %i = sext i32 %from to i64
  %p = getelementptr float, ptr addrspace(1) %rows, i64 %i
  %a = load float, ptr addrspace(1) %p, align 4
  %p1 = getelementptr inbounds nuw i8, ptr addrspace(1) %p, i64 4
  %b = load float, ptr addrspace(1) %p1, align 4
  %p2 = getelementptr inbounds nuw i8, ptr addrspace(1) %p, i64 8
  %c = load float, ptr addrspace(1) %p2, align 4
  %p3 = getelementptr inbounds nuw i8, ptr addrspace(1) %p, i64 12
  %d = load float, ptr addrspace(1) %p3, align 4
  %s = fadd float %a, %b
  %s1 = fadd float %s, %c
  %s2 = fadd float %s1, %d
  %m = shl nuw nsw i32 %lane, 1
  %j = sext i32 %m to i64
  %q = getelementptr float, ptr addrspace(1) %rows, i64 %j
  %e = load float, ptr addrspace(1) %q, align 4
  %q1 = getelementptr inbounds nuw i8, ptr addrspace(1) %q, i64 4
  %f = load float, ptr addrspace(1) %q1, align 4
  %far = add nuw nsw i32 %m, 64
  %jf = sext i32 %far to i64
  %q2 = getelementptr float, ptr addrspace(1) %rows, i64 %jf
  %g = load float, ptr addrspace(1) %q2, align 4
  %q3 = getelementptr inbounds nuw i8, ptr addrspace(1) %q2, i64 4
  %h = load float, ptr addrspace(1) %q3, align 4
  %s3 = fadd float %e, %f
  %s4 = fadd float %s3, %g
  %s5 = fadd float %s4, %h
  %further = add nuw nsw i32 %lane, 32
  %both = fmul float %s2, %s5
  %s6 = fadd float %sum, %both
  %next = add nuw nsw i32 %k, 4
  %ends = icmp eq i32 %next, 32
  br i1 %ends, label %meets, label %loop

meets:
  %n = phi i32 [ 0, %loop ], [ %n1, %meets ]
  %r = add nuw nsw i32 %n, %t
  %w = mul nsw i32 %r, %width
  %x = sext i32 %w to i64
  %z = getelementptr float, ptr addrspace(1) %rows, i64 %x
  %za = load float, ptr addrspace(1) %z, align 4
  %z1 = getelementptr inbounds nuw i8, ptr addrspace(1) %z, i64 4
  %zb = load float, ptr addrspace(1) %z1, align 4
  %z2 = getelementptr inbounds nuw i8, ptr addrspace(1) %z, i64 8
  %zc = load float, ptr addrspace(1) %z2, align 4
  %z3 = getelementptr inbounds nuw i8, ptr addrspace(1) %z, i64 12
  %zd = load float, ptr addrspace(1) %z3, align 4
  %t1 = fadd float %za, %zb
  %t2 = fadd float %zc, %zd
  %t3 = fmul float %t1, %t2
  %t4 = fadd float %t3, %s6
  %po = getelementptr float, ptr addrspace(1) %out, i64 %o
  store float %t4, ptr addrspace(1) %po, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %n1 = add nuw nsw i32 %n, 1
  %stops = icmp eq i32 %n1, 8
  br i1 %stops, label %done, label %meets

done:
  ret void
}

attributes #0 = { nounwind }
