; opt=3
; Bytes behind a condition, which is known at the beginning: they are extended there.
define ptx_kernel void @k(ptr addrspace(1) align 1 %x, ptr addrspace(1) align 4 %out, i32 %r, i32 %n) #0 {
entry:
  br label %loop

loop:
  %i0 = phi i32 [ 0, %entry ], [ %i2, %on1 ]
  %s0 = phi i32 [ 0, %entry ], [ %t1, %on1 ]
  %a0 = add i32 %i0, %r
  %c0 = icmp slt i32 %a0, %n
  br i1 %c0, label %in0, label %on0

in0:
  %p0 = getelementptr i8, ptr addrspace(1) %x, i32 %a0
  %b0 = load i8, ptr addrspace(1) %p0, align 1, !llvm.mem.parallel_loop_access !3
  %w0 = zext i8 %b0 to i32
  %u0 = add i32 %s0, %w0
  br label %on0

on0:
  %t0 = phi i32 [ %s0, %loop ], [ %u0, %in0 ]
  %q0 = getelementptr i32, ptr addrspace(1) %out, i32 %i0
  store i32 %t0, ptr addrspace(1) %q0, align 4, !llvm.mem.parallel_loop_access !3
  %i1 = add i32 %i0, 1
  %a1 = add i32 %i1, %r
  %c1 = icmp slt i32 %a1, %n
  br i1 %c1, label %on1, label %in1

in1:
  %p1 = getelementptr i8, ptr addrspace(1) %x, i32 %a1
  %b1 = load i8, ptr addrspace(1) %p1, align 1, !llvm.mem.parallel_loop_access !3
  %w1 = zext i8 %b1 to i64
  %m1 = mul i64 %w1, 3
  %l1 = trunc i64 %m1 to i32
  %u1 = add i32 %t0, %l1
  br label %on1

on1:
  %t1 = phi i32 [ %t0, %on0 ], [ %u1, %in1 ]
  %q1 = getelementptr i32, ptr addrspace(1) %out, i32 %i1
  store i32 %t1, ptr addrspace(1) %q1, align 4, !llvm.mem.parallel_loop_access !3
  %i2 = add i32 %i1, 1
  %more = icmp slt i32 %i2, %n
  br i1 %more, label %loop, label %end, !llvm.loop !0

end:
  ret void
}

attributes #0 = { nounwind }

!0 = distinct !{!0, !1, !2}
!1 = !{!"llvm.loop.unroll.disable"}
!2 = !{!"pyptx.unrolled", i32 2}
!3 = !{}
