; opt=3
; A quotient behind a condition, which may have a branch of its own: what the second iteration loads
; by its counter goes in front; what it loads by what was loaded, or all threads alike, stays.
define ptx_kernel void @k(ptr addrspace(1) align 4 %near, ptr addrspace(1) align 8 %x, ptr addrspace(1) align 8 %out, i32 %n, i32 %width) #0 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop

loop:
  %i0 = phi i32 [ 0, %entry ], [ %i2, %on1 ]
  %s0 = phi double [ 0.000000e+00, %entry ], [ %s2, %on1 ]
  %r0 = mul i32 %i0, %width
  %a0 = add i32 %r0, %t
  %p0 = getelementptr i32, ptr addrspace(1) %near, i32 %a0
  %j0 = load i32, ptr addrspace(1) %p0, align 4
  %q0 = getelementptr double, ptr addrspace(1) %x, i32 %j0
  %x0 = load double, ptr addrspace(1) %q0, align 8
  %c0 = fcmp olt double %x0, 4.000000e+00
  br i1 %c0, label %in0, label %on0

in0:
  %d0 = fdiv double 1.000000e+00, %x0
  %u0 = fadd double %s0, %d0
  br label %on0

on0:
  %s1 = phi double [ %s0, %loop ], [ %u0, %in0 ]
  %i1 = add i32 %i0, 1
  %r1 = mul i32 %i1, %width
  %a1 = add i32 %r1, %t
  %p1 = getelementptr i32, ptr addrspace(1) %near, i32 %a1
  %j1 = load i32, ptr addrspace(1) %p1, align 4
  %q1 = getelementptr double, ptr addrspace(1) %x, i32 %j1
  %x1 = load double, ptr addrspace(1) %q1, align 8
  %m1 = getelementptr double, ptr addrspace(1) %x, i32 %i1
  %y1 = load double, ptr addrspace(1) %m1, align 8
  %z1 = fadd double %x1, %y1
  %c1 = fcmp olt double %z1, 4.000000e+00
  br i1 %c1, label %in1, label %on1

in1:
  %d1 = fdiv double 1.000000e+00, %z1
  %u1 = fadd double %s1, %d1
  br label %on1

on1:
  %s2 = phi double [ %s1, %on0 ], [ %u1, %in1 ]
  %i2 = add i32 %i1, 1
  %more = icmp slt i32 %i2, %n
  br i1 %more, label %loop, label %end, !llvm.loop !0

end:
  %o = getelementptr double, ptr addrspace(1) %out, i32 %t
  store double %s2, ptr addrspace(1) %o, align 8
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

attributes #0 = { nounwind }

!0 = distinct !{!0, !1, !2}
!1 = !{!"llvm.loop.unroll.disable"}
!2 = !{!"pyptx.unrolled", i32 2}
