; In: a loop of a sigmoid and of a polynomial that does not need it, a chain of nine operations;
;     another of seven; and one that waits for a load behind the quotient.
; Out: the first chain in front of the quotient. The short one, and the one that waits, stay.
define void @chains(ptr addrspace(1) %a, ptr addrspace(1) %out, i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %all, %loop ]
  %at = getelementptr float, ptr addrspace(1) %a, i32 %i
  %z = load float, ptr addrspace(1) %at, align 4
  %e = call float @llvm.nvvm.ex2.approx.ftz.f32(float %z)
  %one = fadd float %e, 1.0
  %s = fdiv float 1.0, %one
  %p1 = fmul float %z, 2.0
  %p2 = fadd float %p1, 3.0
  %p3 = fmul float %p2, %z
  %p4 = fadd float %p3, 4.0
  %p5 = fmul float %p4, %z
  %p6 = fadd float %p5, 5.0
  %p7 = fmul float %p6, %z
  %p8 = fadd float %p7, 6.0
  %p9 = fmul float %p8, %z
  %q1 = fmul float %z, 7.0
  %q2 = fadd float %q1, 3.0
  %q3 = fmul float %q2, %z
  %q4 = fadd float %q3, 4.0
  %q5 = fmul float %q4, %z
  %q6 = fadd float %q5, 5.0
  %q7 = fmul float %q6, %z
  store float %s, ptr addrspace(1) %out, align 4
  %y = load float, ptr addrspace(1) %at, align 4
  %r1 = fmul float %y, 8.0
  %r2 = fadd float %r1, 3.0
  %r3 = fmul float %r2, %y
  %r4 = fadd float %r3, 4.0
  %r5 = fmul float %r4, %y
  %r6 = fadd float %r5, 5.0
  %r7 = fmul float %r6, %y
  %r8 = fadd float %r7, 6.0
  %x = fadd float %s, %p9
  %w = fadd float %q7, %r8
  %v = fadd float %x, %w
  %all = fadd float %sum, %v
  %next = add i32 %i, 1
  %done = icmp eq i32 %next, %n
  br i1 %done, label %end, label %loop
end:
  store float %all, ptr addrspace(1) %out, align 4
  ret void
}
declare float @llvm.nvvm.ex2.approx.ftz.f32(float)
