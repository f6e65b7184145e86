; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, i32 %1) #0 {
entry:
  %x = load float, ptr addrspace(1) %0, align 4
  %c = fcmp ogt float %x, 0.000000e+00
  br i1 %c, label %slow, label %a

slow:                                             ; preds = %entry
  %q = fdiv float 1.000000e+00, %x
  br label %a

a:                                                ; preds = %entry, %slow
  %v = phi float [ %x, %entry ], [ %q, %slow ]
  br i1 %c, label %loads, label %b

loads:                                            ; preds = %a
  %y = load float, ptr addrspace(1) %0, align 4
  br label %b

b:                                                ; preds = %a, %loads
  %w = phi float [ %v, %a ], [ %y, %loads ]
  br i1 %c, label %long, label %d

long:                                             ; preds = %b
  %m0 = fmul float %x, %x
  %m1 = fmul float %m0, %x
  %m2 = fmul float %m1, %x
  %m3 = fmul float %m2, %x
  %m4 = fmul float %m3, %x
  %m5 = fmul float %m4, %x
  %m6 = fmul float %m5, %x
  %m7 = fmul float %m6, %x
  %m8 = fmul float %m7, %x
  %m9 = fmul float %m8, %x
  %m10 = fmul float %m9, %x
  br label %d

d:                                                ; preds = %b, %long
  %z = phi float [ %w, %b ], [ %m10, %long ]
  %other = fcmp olt float %x, 1.000000e+00
  br i1 %other, label %flag, label %e

flag:                                             ; preds = %d
  %not = xor i1 %c, true
  br label %e

e:                                                ; preds = %d, %flag
  %f = phi i1 [ %c, %d ], [ %not, %flag ]
  %r = select i1 %f, float %z, float 0.000000e+00
  store float %r, ptr addrspace(1) %0, align 4
  ret void
}

attributes #0 = { nounwind }
