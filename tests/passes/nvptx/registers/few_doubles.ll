; opt=3
; Eight float64 in an iteration leave registers free.
define ptx_kernel void @k(ptr addrspace(1) align 4 %places, ptr addrspace(1) align 8 %x, i32 %n, ptr addrspace(1) align 8 %out) #0 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %row = mul nuw nsw i32 %t, %n
  br label %loop

loop:                                             ; preds = %loop, %entry
  %c = phi i32 [ 0, %entry ], [ %c.next, %loop ]
  %s0 = phi double [ 0.0, %entry ], [ %s8, %loop ]
  %i0 = add nuw nsw i32 %c, 0
  %j0 = xor i32 %i0, %row
  %iw0 = sext i32 %j0 to i64
  %p0 = getelementptr double, ptr addrspace(1) %x, i64 %iw0
  %v0 = load double, ptr addrspace(1) %p0, align 8
  %s1 = fadd double %s0, %v0
  %i1 = add nuw nsw i32 %c, 1
  %j1 = xor i32 %i1, %row
  %iw1 = sext i32 %j1 to i64
  %p1 = getelementptr double, ptr addrspace(1) %x, i64 %iw1
  %v1 = load double, ptr addrspace(1) %p1, align 8
  %s2 = fadd double %s1, %v1
  %i2 = add nuw nsw i32 %c, 2
  %j2 = xor i32 %i2, %row
  %iw2 = sext i32 %j2 to i64
  %p2 = getelementptr double, ptr addrspace(1) %x, i64 %iw2
  %v2 = load double, ptr addrspace(1) %p2, align 8
  %s3 = fadd double %s2, %v2
  %i3 = add nuw nsw i32 %c, 3
  %j3 = xor i32 %i3, %row
  %iw3 = sext i32 %j3 to i64
  %p3 = getelementptr double, ptr addrspace(1) %x, i64 %iw3
  %v3 = load double, ptr addrspace(1) %p3, align 8
  %s4 = fadd double %s3, %v3
  %i4 = add nuw nsw i32 %c, 4
  %j4 = xor i32 %i4, %row
  %iw4 = sext i32 %j4 to i64
  %p4 = getelementptr double, ptr addrspace(1) %x, i64 %iw4
  %v4 = load double, ptr addrspace(1) %p4, align 8
  %s5 = fadd double %s4, %v4
  %i5 = add nuw nsw i32 %c, 5
  %j5 = xor i32 %i5, %row
  %iw5 = sext i32 %j5 to i64
  %p5 = getelementptr double, ptr addrspace(1) %x, i64 %iw5
  %v5 = load double, ptr addrspace(1) %p5, align 8
  %s6 = fadd double %s5, %v5
  %i6 = add nuw nsw i32 %c, 6
  %j6 = xor i32 %i6, %row
  %iw6 = sext i32 %j6 to i64
  %p6 = getelementptr double, ptr addrspace(1) %x, i64 %iw6
  %v6 = load double, ptr addrspace(1) %p6, align 8
  %s7 = fadd double %s6, %v6
  %i7 = add nuw nsw i32 %c, 7
  %j7 = xor i32 %i7, %row
  %iw7 = sext i32 %j7 to i64
  %p7 = getelementptr double, ptr addrspace(1) %x, i64 %iw7
  %v7 = load double, ptr addrspace(1) %p7, align 8
  %s8 = fadd double %s7, %v7
  %c.next = add nuw nsw i32 %c, 8
  %more = icmp slt i32 %c.next, %n
  br i1 %more, label %loop, label %done

done:                                             ; preds = %loop
  %ow = sext i32 %t to i64
  %o = getelementptr double, ptr addrspace(1) %out, i64 %ow
  store double %s8, ptr addrspace(1) %o, align 8
  ret void
}

declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
