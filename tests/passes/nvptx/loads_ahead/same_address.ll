; opt=3
; A load of the same address in all iterations: once, in front of the loop.
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, ptr addrspace(1) align 4 %out, i32 %n) #0 {
entry:
  br label %loop

loop:
  %i0 = phi i32 [ 0, %entry ], [ %i3, %loop ]
  %p0 = getelementptr float, ptr addrspace(1) %x, i32 %i0
  %v0 = load float, ptr addrspace(1) %x, align 4, !llvm.mem.parallel_loop_access !3
  %q0 = getelementptr float, ptr addrspace(1) %out, i32 %i0
  store float %v0, ptr addrspace(1) %q0, align 4, !llvm.mem.parallel_loop_access !3
  %i1 = add i32 %i0, 1
  %p1 = getelementptr float, ptr addrspace(1) %x, i32 %n
  %v1 = load float, ptr addrspace(1) %p1, align 4, !llvm.mem.parallel_loop_access !3
  %q1 = getelementptr float, ptr addrspace(1) %out, i32 %i1
  store float %v1, ptr addrspace(1) %q1, align 4, !llvm.mem.parallel_loop_access !3
  %i2 = add i32 %i1, 1
  %p2 = getelementptr float, ptr addrspace(1) %x, i32 %i2
  %v2 = load float, ptr addrspace(1) %x, align 4, !llvm.mem.parallel_loop_access !3
  %q2 = getelementptr float, ptr addrspace(1) %out, i32 %i2
  store float %v2, ptr addrspace(1) %q2, align 4, !llvm.mem.parallel_loop_access !3
  %i3 = add i32 %i2, 1
  %more = icmp slt i32 %i3, %n
  br i1 %more, label %loop, label %end, !llvm.loop !0

end:
  ret void
}

attributes #0 = { nounwind }

!0 = distinct !{!0, !1, !2}
!1 = !{!"llvm.loop.unroll.disable"}
!2 = !{!"pyptx.unrolled", i32 3}
!3 = !{}
