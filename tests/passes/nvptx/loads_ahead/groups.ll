; opt=3
; Seven loads of two words: four, then three where the fifth was.
define ptx_kernel void @k(ptr addrspace(1) align 8 %x, ptr addrspace(1) align 8 %out, i32 %n) #0 {
entry:
  br label %loop

loop:
  %i0 = phi i32 [ 0, %entry ], [ %i7, %loop ]
  %p0 = getelementptr double, ptr addrspace(1) %x, i32 %i0
  %v0 = load double, ptr addrspace(1) %p0, align 8, !llvm.mem.parallel_loop_access !3
  %q0 = getelementptr double, ptr addrspace(1) %out, i32 %i0
  store double %v0, ptr addrspace(1) %q0, align 8, !llvm.mem.parallel_loop_access !3
  %i1 = add i32 %i0, 1
  %p1 = getelementptr double, ptr addrspace(1) %x, i32 %i1
  %v1 = load double, ptr addrspace(1) %p1, align 8, !llvm.mem.parallel_loop_access !3
  %q1 = getelementptr double, ptr addrspace(1) %out, i32 %i1
  store double %v1, ptr addrspace(1) %q1, align 8, !llvm.mem.parallel_loop_access !3
  %i2 = add i32 %i1, 1
  %p2 = getelementptr double, ptr addrspace(1) %x, i32 %i2
  %v2 = load double, ptr addrspace(1) %p2, align 8, !llvm.mem.parallel_loop_access !3
  %q2 = getelementptr double, ptr addrspace(1) %out, i32 %i2
  store double %v2, ptr addrspace(1) %q2, align 8, !llvm.mem.parallel_loop_access !3
  %i3 = add i32 %i2, 1
  %p3 = getelementptr double, ptr addrspace(1) %x, i32 %i3
  %v3 = load double, ptr addrspace(1) %p3, align 8, !llvm.mem.parallel_loop_access !3
  %q3 = getelementptr double, ptr addrspace(1) %out, i32 %i3
  store double %v3, ptr addrspace(1) %q3, align 8, !llvm.mem.parallel_loop_access !3
  %i4 = add i32 %i3, 1
  %p4 = getelementptr double, ptr addrspace(1) %x, i32 %i4
  %v4 = load double, ptr addrspace(1) %p4, align 8, !llvm.mem.parallel_loop_access !3
  %q4 = getelementptr double, ptr addrspace(1) %out, i32 %i4
  store double %v4, ptr addrspace(1) %q4, align 8, !llvm.mem.parallel_loop_access !3
  %i5 = add i32 %i4, 1
  %p5 = getelementptr double, ptr addrspace(1) %x, i32 %i5
  %v5 = load double, ptr addrspace(1) %p5, align 8, !llvm.mem.parallel_loop_access !3
  %q5 = getelementptr double, ptr addrspace(1) %out, i32 %i5
  store double %v5, ptr addrspace(1) %q5, align 8, !llvm.mem.parallel_loop_access !3
  %i6 = add i32 %i5, 1
  %p6 = getelementptr double, ptr addrspace(1) %x, i32 %i6
  %v6 = load double, ptr addrspace(1) %p6, align 8, !llvm.mem.parallel_loop_access !3
  %q6 = getelementptr double, ptr addrspace(1) %out, i32 %i6
  store double %v6, ptr addrspace(1) %q6, align 8, !llvm.mem.parallel_loop_access !3
  %i7 = add i32 %i6, 1
  %more = icmp slt i32 %i7, %n
  br i1 %more, label %loop, label %end, !llvm.loop !0

end:
  ret void
}

attributes #0 = { nounwind }

!0 = distinct !{!0, !1, !2}
!1 = !{!"llvm.loop.unroll.disable"}
!2 = !{!"pyptx.unrolled", i32 7}
!3 = !{}
