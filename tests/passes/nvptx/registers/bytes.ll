; opt=3
; A warp's lanes take bytes 32 apart, and words of what they are multiplied with.
define ptx_kernel void @k(ptr addrspace(1) align 1 %x, ptr addrspace(1) align 4 %q, i32 %n, ptr addrspace(1) align 4 %out) #0 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %lane = and i32 %t, 31
  br label %loop

loop:                                             ; preds = %loop, %entry
  %c = phi i32 [ %lane, %entry ], [ %c.8, %loop ]
  %s = phi i32 [ 0, %entry ], [ %s.8, %loop ]
  %cw = sext i32 %c to i64
  %p = getelementptr i8, ptr addrspace(1) %x, i64 %cw
  %u = getelementptr i32, ptr addrspace(1) %q, i64 %cw
  %a0 = load i8, ptr addrspace(1) %p, align 1
  %b0 = load i32, ptr addrspace(1) %u, align 4
  %w0 = sext i8 %a0 to i32
  %m0 = mul i32 %w0, %b0
  %s.1 = add i32 %s, %m0
  %p1 = getelementptr i8, ptr addrspace(1) %p, i64 32
  %u1 = getelementptr i8, ptr addrspace(1) %u, i64 128
  %a1 = load i8, ptr addrspace(1) %p1, align 1
  %b1 = load i32, ptr addrspace(1) %u1, align 4
  %w1 = sext i8 %a1 to i32
  %m1 = mul i32 %w1, %b1
  %s.2 = add i32 %s.1, %m1
  %p2 = getelementptr i8, ptr addrspace(1) %p, i64 64
  %u2 = getelementptr i8, ptr addrspace(1) %u, i64 256
  %a2 = load i8, ptr addrspace(1) %p2, align 1
  %b2 = load i32, ptr addrspace(1) %u2, align 4
  %w2 = sext i8 %a2 to i32
  %m2 = mul i32 %w2, %b2
  %s.3 = add i32 %s.2, %m2
  %p3 = getelementptr i8, ptr addrspace(1) %p, i64 96
  %u3 = getelementptr i8, ptr addrspace(1) %u, i64 384
  %a3 = load i8, ptr addrspace(1) %p3, align 1
  %b3 = load i32, ptr addrspace(1) %u3, align 4
  %w3 = sext i8 %a3 to i32
  %m3 = mul i32 %w3, %b3
  %s.4 = add i32 %s.3, %m3
  %p4 = getelementptr i8, ptr addrspace(1) %p, i64 128
  %u4 = getelementptr i8, ptr addrspace(1) %u, i64 512
  %a4 = load i8, ptr addrspace(1) %p4, align 1
  %b4 = load i32, ptr addrspace(1) %u4, align 4
  %w4 = sext i8 %a4 to i32
  %m4 = mul i32 %w4, %b4
  %s.5 = add i32 %s.4, %m4
  %p5 = getelementptr i8, ptr addrspace(1) %p, i64 160
  %u5 = getelementptr i8, ptr addrspace(1) %u, i64 640
  %a5 = load i8, ptr addrspace(1) %p5, align 1
  %b5 = load i32, ptr addrspace(1) %u5, align 4
  %w5 = sext i8 %a5 to i32
  %m5 = mul i32 %w5, %b5
  %s.6 = add i32 %s.5, %m5
  %p6 = getelementptr i8, ptr addrspace(1) %p, i64 192
  %u6 = getelementptr i8, ptr addrspace(1) %u, i64 768
  %a6 = load i8, ptr addrspace(1) %p6, align 1
  %b6 = load i32, ptr addrspace(1) %u6, align 4
  %w6 = sext i8 %a6 to i32
  %m6 = mul i32 %w6, %b6
  %s.7 = add i32 %s.6, %m6
  %p7 = getelementptr i8, ptr addrspace(1) %p, i64 224
  %u7 = getelementptr i8, ptr addrspace(1) %u, i64 896
  %a7 = load i8, ptr addrspace(1) %p7, align 1
  %b7 = load i32, ptr addrspace(1) %u7, align 4
  %w7 = sext i8 %a7 to i32
  %m7 = mul i32 %w7, %b7
  %s.8 = add i32 %s.7, %m7
  %c.8 = add nuw nsw i32 %c, 256
  %on = icmp slt i32 %c.8, %n
  br i1 %on, label %loop, label %done

done:                                             ; preds = %loop
  store i32 %s.8, ptr addrspace(1) %out, align 4
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

attributes #0 = { nounwind }
