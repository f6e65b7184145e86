; opt=3
; What all threads load behind guarded quotients, in front of the branches; not past a store, nor
; from a place that depends on what is computed behind them.
define ptx_kernel void @faces(ptr addrspace(1) align 4 %x, ptr addrspace(1) align 4 %out, i32 %i) #0 {
entry:
  %ie = sext i32 %i to i64
  %p = getelementptr inbounds float, ptr addrspace(1) %x, i64 %ie
  %a = load float, ptr addrspace(1) %p, align 4
  %c = fcmp ogt float %a, 0.000000e+00
  br i1 %c, label %first, label %second

first:                                            ; preds = %entry
  %q = fdiv float 2.000000e+00, %a
  br label %second

second:                                           ; preds = %first, %entry
  %u = phi float [ %q, %first ], [ 0.000000e+00, %entry ]
  %p1 = getelementptr inbounds float, ptr addrspace(1) %p, i64 1
  %b = load float, ptr addrspace(1) %p1, align 4
  %d = fcmp ogt float %b, 0.000000e+00
  br i1 %d, label %third, label %fourth

third:                                            ; preds = %second
  %r = fdiv float 2.000000e+00, %b
  br label %last

fourth:                                           ; preds = %second
  %n = fneg float %b
  br label %last

last:                                             ; preds = %fourth, %third
  %v = phi float [ %r, %third ], [ %n, %fourth ]
  %p2 = getelementptr inbounds float, ptr addrspace(1) %p, i64 2
  %e = load float, ptr addrspace(1) %p2, align 4
  %k = fptosi float %v to i32
  %ke = sext i32 %k to i64
  %p3 = getelementptr inbounds float, ptr addrspace(1) %x, i64 %ke
  %f = load float, ptr addrspace(1) %p3, align 4
  %s = fadd float %u, %e
  %t = fadd float %s, %f
  store float %t, ptr addrspace(1) %out, align 4
  ret void
}

define ptx_kernel void @stores(ptr addrspace(1) align 4 %x, ptr addrspace(1) align 4 %out, i32 %i, i1 %c) #0 {
entry:
  %ie = sext i32 %i to i64
  %p = getelementptr inbounds float, ptr addrspace(1) %x, i64 %ie
  %a = load float, ptr addrspace(1) %p, align 4
  br i1 %c, label %side, label %join

side:                                             ; preds = %entry
  %q = fdiv float 2.000000e+00, %a
  store float %q, ptr addrspace(1) %out, align 4
  br label %join

join:                                             ; preds = %side, %entry
  %p1 = getelementptr inbounds float, ptr addrspace(1) %p, i64 1
  %b = load float, ptr addrspace(1) %p1, align 4
  %d = fcmp ogt float %b, 0.000000e+00
  br i1 %d, label %third, label %last

third:                                            ; preds = %join
  %r = fdiv float 2.000000e+00, %b
  br label %last

last:                                             ; preds = %third, %join
  %v = phi float [ %r, %third ], [ %b, %join ]
  store float %v, ptr addrspace(1) %out, align 4
  %p2 = getelementptr inbounds float, ptr addrspace(1) %p, i64 2
  %e = load float, ptr addrspace(1) %p2, align 4
  store float %e, ptr addrspace(1) %p, align 4
  ret void
}

attributes #0 = { nounwind }
