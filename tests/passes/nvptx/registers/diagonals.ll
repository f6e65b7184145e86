; opt=3
; Distances that all threads read alike: neighbours stay beside each other.
define ptx_kernel void @k(ptr addrspace(1) align 4 %places, ptr addrspace(1) align 8 %x, i32 %n, ptr addrspace(1) align 8 %out) #0 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %row = mul nuw nsw i32 %t, %n
  br label %loop

loop:                                             ; preds = %loop, %entry
  %c = phi i32 [ 0, %entry ], [ %c.next, %loop ]
  %s0 = phi float [ 0.0, %entry ], [ %s8, %loop ]
  %c0 = add nuw nsw i32 %c, 0
  %i0 = add nsw i32 %c0, 0
  %iw0 = sext i32 %i0 to i64
  %p0 = getelementptr i32, ptr addrspace(1) %places, i64 %iw0
  %a0 = load i32, ptr addrspace(1) %p0, align 4
  %b0 = add nsw i32 %a0, %t
  %bw0 = sext i32 %b0 to i64
  %q0 = getelementptr float, ptr addrspace(1) %x, i64 %bw0
  %v0 = load float, ptr addrspace(1) %q0, align 4
  %s1 = fadd float %s0, %v0
  %c1 = add nuw nsw i32 %c, 1
  %i1 = add nsw i32 %c1, 0
  %iw1 = sext i32 %i1 to i64
  %p1 = getelementptr i32, ptr addrspace(1) %places, i64 %iw1
  %a1 = load i32, ptr addrspace(1) %p1, align 4
  %b1 = add nsw i32 %a1, %t
  %bw1 = sext i32 %b1 to i64
  %q1 = getelementptr float, ptr addrspace(1) %x, i64 %bw1
  %v1 = load float, ptr addrspace(1) %q1, align 4
  %s2 = fadd float %s1, %v1
  %c2 = add nuw nsw i32 %c, 2
  %i2 = add nsw i32 %c2, 0
  %iw2 = sext i32 %i2 to i64
  %p2 = getelementptr i32, ptr addrspace(1) %places, i64 %iw2
  %a2 = load i32, ptr addrspace(1) %p2, align 4
  %b2 = add nsw i32 %a2, %t
  %bw2 = sext i32 %b2 to i64
  %q2 = getelementptr float, ptr addrspace(1) %x, i64 %bw2
  %v2 = load float, ptr addrspace(1) %q2, align 4
  %s3 = fadd float %s2, %v2
  %c3 = add nuw nsw i32 %c, 3
  %i3 = add nsw i32 %c3, 0
  %iw3 = sext i32 %i3 to i64
  %p3 = getelementptr i32, ptr addrspace(1) %places, i64 %iw3
  %a3 = load i32, ptr addrspace(1) %p3, align 4
  %b3 = add nsw i32 %a3, %t
  %bw3 = sext i32 %b3 to i64
  %q3 = getelementptr float, ptr addrspace(1) %x, i64 %bw3
  %v3 = load float, ptr addrspace(1) %q3, align 4
  %s4 = fadd float %s3, %v3
  %c4 = add nuw nsw i32 %c, 4
  %i4 = add nsw i32 %c4, 0
  %iw4 = sext i32 %i4 to i64
  %p4 = getelementptr i32, ptr addrspace(1) %places, i64 %iw4
  %a4 = load i32, ptr addrspace(1) %p4, align 4
  %b4 = add nsw i32 %a4, %t
  %bw4 = sext i32 %b4 to i64
  %q4 = getelementptr float, ptr addrspace(1) %x, i64 %bw4
  %v4 = load float, ptr addrspace(1) %q4, align 4
  %s5 = fadd float %s4, %v4
  %c5 = add nuw nsw i32 %c, 5
  %i5 = add nsw i32 %c5, 0
  %iw5 = sext i32 %i5 to i64
  %p5 = getelementptr i32, ptr addrspace(1) %places, i64 %iw5
  %a5 = load i32, ptr addrspace(1) %p5, align 4
  %b5 = add nsw i32 %a5, %t
  %bw5 = sext i32 %b5 to i64
  %q5 = getelementptr float, ptr addrspace(1) %x, i64 %bw5
  %v5 = load float, ptr addrspace(1) %q5, align 4
  %s6 = fadd float %s5, %v5
  %c6 = add nuw nsw i32 %c, 6
  %i6 = add nsw i32 %c6, 0
  %iw6 = sext i32 %i6 to i64
  %p6 = getelementptr i32, ptr addrspace(1) %places, i64 %iw6
  %a6 = load i32, ptr addrspace(1) %p6, align 4
  %b6 = add nsw i32 %a6, %t
  %bw6 = sext i32 %b6 to i64
  %q6 = getelementptr float, ptr addrspace(1) %x, i64 %bw6
  %v6 = load float, ptr addrspace(1) %q6, align 4
  %s7 = fadd float %s6, %v6
  %c7 = add nuw nsw i32 %c, 7
  %i7 = add nsw i32 %c7, 0
  %iw7 = sext i32 %i7 to i64
  %p7 = getelementptr i32, ptr addrspace(1) %places, i64 %iw7
  %a7 = load i32, ptr addrspace(1) %p7, align 4
  %b7 = add nsw i32 %a7, %t
  %bw7 = sext i32 %b7 to i64
  %q7 = getelementptr float, ptr addrspace(1) %x, i64 %bw7
  %v7 = load float, ptr addrspace(1) %q7, align 4
  %s8 = fadd float %s7, %v7
  %c.next = add nuw nsw i32 %c, 8
  %more = icmp slt i32 %c.next, %n
  br i1 %more, label %loop, label %done

done:                                             ; preds = %loop
  %ow = sext i32 %t to i64
  %o = getelementptr float, ptr addrspace(1) %out, i64 %ow
  store float %s8, ptr addrspace(1) %o, align 4
  ret void
}

declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
