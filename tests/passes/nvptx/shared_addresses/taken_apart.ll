; opt=3
; x + k + 1 and x + k + 2 as LICM leaves them, without flags, behind comparisons with an extent: a
; distance from x + k. x + k + 3 is compared with another number, x + k - 1 is before it.
define ptx_kernel void @k(ptr addrspace(1) align 4 %a, i32 range(i32 0, -2147483648) %n, i32 %m, ptr addrspace(1) align 4 %out) #0 {
entry:
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %x1 = add nuw i32 %x, 1
  %x2 = add nuw i32 %x, 2
  %x3 = add nuw i32 %x, 3
  %xm = add i32 %x, -1
  br label %loop

loop:                                             ; preds = %e, %entry
  %k = phi i32 [ -9, %entry ], [ %next, %e ]
  %s0 = phi float [ 0.000000e+00, %entry ], [ %s5, %e ]
  %i0 = add nsw i32 %k, %x
  %c0 = icmp ult i32 %i0, %n
  br i1 %c0, label %l0, label %a1

l0:                                               ; preds = %loop
  %w0 = sext i32 %i0 to i64
  %p0 = getelementptr inbounds nuw float, ptr addrspace(1) %a, i64 %w0
  %v0 = load float, ptr addrspace(1) %p0, align 4
  %t0 = fadd float %s0, %v0
  br label %a1

a1:                                               ; preds = %l0, %loop
  %s1 = phi float [ %s0, %loop ], [ %t0, %l0 ]
  %i1 = add i32 %k, %x1
  %c1 = icmp ult i32 %i1, %n
  br i1 %c1, label %l1, label %a2

l1:                                               ; preds = %a1
  %w1 = sext i32 %i1 to i64
  %p1 = getelementptr inbounds nuw float, ptr addrspace(1) %a, i64 %w1
  %v1 = load float, ptr addrspace(1) %p1, align 4
  %t1 = fadd float %s1, %v1
  br label %a2

a2:                                               ; preds = %l1, %a1
  %s2 = phi float [ %s1, %a1 ], [ %t1, %l1 ]
  %i2 = add i32 %k, %x2
  %c2 = icmp uge i32 %i2, %n
  br i1 %c2, label %a3, label %l2

l2:                                               ; preds = %a2
  %w2 = sext i32 %i2 to i64
  %p2 = getelementptr inbounds nuw float, ptr addrspace(1) %a, i64 %w2
  %v2 = load float, ptr addrspace(1) %p2, align 4
  %t2 = fadd float %s2, %v2
  br label %a3

a3:                                               ; preds = %l2, %a2
  %s3 = phi float [ %s2, %a2 ], [ %t2, %l2 ]
  %i3 = add i32 %k, %x3
  %c3 = icmp ult i32 %i3, %m
  br i1 %c3, label %l3, label %a4

l3:                                               ; preds = %a3
  %w3 = sext i32 %i3 to i64
  %p3 = getelementptr inbounds nuw float, ptr addrspace(1) %a, i64 %w3
  %v3 = load float, ptr addrspace(1) %p3, align 4
  %t3 = fadd float %s3, %v3
  br label %a4

a4:                                               ; preds = %l3, %a3
  %s4 = phi float [ %s3, %a3 ], [ %t3, %l3 ]
  %im = add i32 %k, %xm
  %cm = icmp ult i32 %im, %n
  br i1 %cm, label %lm, label %e

lm:                                               ; preds = %a4
  %wm = sext i32 %im to i64
  %pm = getelementptr inbounds nuw float, ptr addrspace(1) %a, i64 %wm
  %vm = load float, ptr addrspace(1) %pm, align 4
  %tm = fadd float %s4, %vm
  br label %e

e:                                                ; preds = %lm, %a4
  %s5 = phi float [ %s4, %a4 ], [ %tm, %lm ]
  %next = add nsw i32 %k, 4
  %more = icmp slt i32 %next, 9
  br i1 %more, label %loop, label %end

end:                                              ; preds = %e
  store float %s5, ptr addrspace(1) %out, align 4
  ret void
}

declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
