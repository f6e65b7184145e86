; opt=3
; A loop's load from one address in all threads stays where each quotient waits for the one before,
; and goes in front where they do not, or where threads differ.
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

define ptx_kernel void @series(ptr addrspace(1) align 4 %x, ptr addrspace(1) align 4 %out, float %d, i32 %n) #0 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop

loop:                                             ; preds = %loop, %entry
  %k = phi i32 [ 0, %entry ], [ %k2, %loop ]
  %q = phi float [ 1.000000e+00, %entry ], [ %r, %loop ]
  %a = fdiv float %q, %d
  %i = add nsw i32 %k, 1
  %ie = sext i32 %i to i64
  %p = getelementptr inbounds float, ptr addrspace(1) %x, i64 %ie
  %v = load float, ptr addrspace(1) %p, align 4
  %s = fadd float %a, %v
  %b = fdiv float %s, %d
  %r = fadd float %b, %a
  %k2 = add nsw i32 %k, 2
  %more = icmp slt i32 %k2, %n
  br i1 %more, label %loop, label %done

done:                                             ; preds = %loop
  store float %r, ptr addrspace(1) %out, align 4
  ret void
}

define ptx_kernel void @apart(ptr addrspace(1) align 4 %x, ptr addrspace(1) align 4 %out, float %d, i32 %n) #0 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop

loop:                                             ; preds = %loop, %entry
  %k = phi i32 [ 0, %entry ], [ %k2, %loop ]
  %q = phi float [ 1.000000e+00, %entry ], [ %r, %loop ]
  %a = fdiv float %q, %d
  %i = add nsw i32 %k, 1
  %ie = sext i32 %i to i64
  %p = getelementptr inbounds float, ptr addrspace(1) %x, i64 %ie
  %v = load float, ptr addrspace(1) %p, align 4
  %s = fadd float %q, %v
  %b = fdiv float %s, %d
  %r = fadd float %b, %a
  %k2 = add nsw i32 %k, 2
  %more = icmp slt i32 %k2, %n
  br i1 %more, label %loop, label %done

done:                                             ; preds = %loop
  store float %r, ptr addrspace(1) %out, align 4
  ret void
}

define ptx_kernel void @threads(ptr addrspace(1) align 4 %x, ptr addrspace(1) align 4 %out, float %d, i32 %n) #0 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop

loop:                                             ; preds = %loop, %entry
  %k = phi i32 [ 0, %entry ], [ %k2, %loop ]
  %q = phi float [ 1.000000e+00, %entry ], [ %r, %loop ]
  %a = fdiv float %q, %d
  %i = add nsw i32 %k, %t
  %ie = sext i32 %i to i64
  %p = getelementptr inbounds float, ptr addrspace(1) %x, i64 %ie
  %v = load float, ptr addrspace(1) %p, align 4
  %s = fadd float %a, %v
  %b = fdiv float %s, %d
  %r = fadd float %b, %a
  %k2 = add nsw i32 %k, 2
  %more = icmp slt i32 %k2, %n
  br i1 %more, label %loop, label %done

done:                                             ; preds = %loop
  store float %r, ptr addrspace(1) %out, align 4
  ret void
}

attributes #0 = { nounwind }
