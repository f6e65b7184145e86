; opt=3
; Neighbouring threads read neighbouring elements: columns, not rows.
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, ptr addrspace(1) align 4 %q, i32 %width, ptr addrspace(1) align 4 %out) #0 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %row = mul nuw nsw i32 %t, 1
  br label %loop

loop:                                             ; preds = %loop, %entry
  %c = phi i32 [ 0, %entry ], [ %c.8, %loop ]
  %s = phi float [ 0.0, %entry ], [ %s.8, %loop ]
  %i = add nuw nsw i32 %c, %row
  %iw = sext i32 %i to i64
  %p = getelementptr float, ptr addrspace(1) %x, i64 %iw
  %cw = sext i32 %c to i64
  %u = getelementptr float, ptr addrspace(1) %q, i64 %cw
  %a0 = load float, ptr addrspace(1) %p, align 4
  %b0 = load float, ptr addrspace(1) %u, align 4
  %m0 = fmul float %a0, %b0
  %s.1 = fadd float %s, %m0
  %p1 = getelementptr i8, ptr addrspace(1) %p, i64 4
  %u1 = getelementptr i8, ptr addrspace(1) %u, i64 4
  %a1 = load float, ptr addrspace(1) %p1, align 4
  %b1 = load float, ptr addrspace(1) %u1, align 4
  %m1 = fmul float %a1, %b1
  %s.2 = fadd float %s.1, %m1
  %p2 = getelementptr i8, ptr addrspace(1) %p, i64 8
  %u2 = getelementptr i8, ptr addrspace(1) %u, i64 8
  %a2 = load float, ptr addrspace(1) %p2, align 4
  %b2 = load float, ptr addrspace(1) %u2, align 4
  %m2 = fmul float %a2, %b2
  %s.3 = fadd float %s.2, %m2
  %p3 = getelementptr i8, ptr addrspace(1) %p, i64 12
  %u3 = getelementptr i8, ptr addrspace(1) %u, i64 12
  %a3 = load float, ptr addrspace(1) %p3, align 4
  %b3 = load float, ptr addrspace(1) %u3, align 4
  %m3 = fmul float %a3, %b3
  %s.4 = fadd float %s.3, %m3
  %p4 = getelementptr i8, ptr addrspace(1) %p, i64 16
  %u4 = getelementptr i8, ptr addrspace(1) %u, i64 16
  %a4 = load float, ptr addrspace(1) %p4, align 4
  %b4 = load float, ptr addrspace(1) %u4, align 4
  %m4 = fmul float %a4, %b4
  %s.5 = fadd float %s.4, %m4
  %p5 = getelementptr i8, ptr addrspace(1) %p, i64 20
  %u5 = getelementptr i8, ptr addrspace(1) %u, i64 20
  %a5 = load float, ptr addrspace(1) %p5, align 4
  %b5 = load float, ptr addrspace(1) %u5, align 4
  %m5 = fmul float %a5, %b5
  %s.6 = fadd float %s.5, %m5
  %p6 = getelementptr i8, ptr addrspace(1) %p, i64 24
  %u6 = getelementptr i8, ptr addrspace(1) %u, i64 24
  %a6 = load float, ptr addrspace(1) %p6, align 4
  %b6 = load float, ptr addrspace(1) %u6, align 4
  %m6 = fmul float %a6, %b6
  %s.7 = fadd float %s.6, %m6
  %p7 = getelementptr i8, ptr addrspace(1) %p, i64 28
  %u7 = getelementptr i8, ptr addrspace(1) %u, i64 28
  %a7 = load float, ptr addrspace(1) %p7, align 4
  %b7 = load float, ptr addrspace(1) %u7, align 4
  %m7 = fmul float %a7, %b7
  %s.8 = fadd float %s.7, %m7
  %c.8 = add nuw nsw i32 %c, 8
  %on = icmp slt i32 %c.8, %width
  br i1 %on, label %loop, label %done

done:                                             ; preds = %loop
  store float %s.8, ptr addrspace(1) %out, align 4
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

attributes #0 = { nounwind }
