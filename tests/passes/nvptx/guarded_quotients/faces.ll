; opt=3
; The second quotient, and the branch around it, are the first; so is a root's, whose phi has
; something else elsewhere, but not what that has.
declare float @llvm.sqrt.f32(float)

define ptx_kernel void @k(ptr addrspace(1) align 4 %out, float %x, float %y, float %z) #0 {
entry:
  %c = fcmp ogt float %y, 0.000000e+00
  br i1 %c, label %a, label %b

a:                                                ; preds = %entry
  %m = fmul float %x, 2.000000e+00
  %q = fdiv contract float %m, %y
  %s = call float @llvm.sqrt.f32(float %y)
  br label %b

b:                                                ; preds = %a, %entry
  %p = phi float [ %q, %a ], [ 0.000000e+00, %entry ]
  %r = phi float [ %s, %a ], [ 1.000000e+00, %entry ]
  store float %p, ptr addrspace(1) %out, align 4
  store float %r, ptr addrspace(1) %out, align 4
  br i1 %c, label %d, label %e

d:                                                ; preds = %b
  %m2 = fmul float %x, 2.000000e+00
  %q2 = fdiv contract float %m2, %y
  br label %e

e:                                                ; preds = %d, %b
  %p2 = phi float [ %q2, %d ], [ 0.000000e+00, %b ]
  store float %p2, ptr addrspace(1) %out, align 4
  br i1 %c, label %f, label %g

f:                                                ; preds = %e
  %s2 = call float @llvm.sqrt.f32(float %y)
  br label %g

g:                                                ; preds = %f, %e
  %r2 = phi float [ %s2, %f ], [ %z, %e ]
  store float %r2, ptr addrspace(1) %out, align 4
  ret void
}

attributes #0 = { nounwind }
