; opt=3
; Not by another condition, on the other side of it, of other numbers, with other flags, or behind a
; branch that the first join does not dominate.
define ptx_kernel void @k(ptr addrspace(1) align 4 %out, float %x, float %y, float %z, i1 %o) #0 {
entry:
  %c = fcmp ogt float %y, 0.000000e+00
  br i1 %o, label %start, label %b

start:                                            ; preds = %entry
  br i1 %c, label %a, label %b0

a:                                                ; preds = %start
  %q = fdiv float %x, %y
  br label %b0

b0:                                               ; preds = %a, %start
  %p = phi float [ %q, %a ], [ 0.000000e+00, %start ]
  store float %p, ptr addrspace(1) %out, align 4
  %w = fcmp ogt float %z, 0.000000e+00
  br i1 %w, label %d, label %e

d:                                                ; preds = %b0
  %q2 = fdiv float %x, %y
  br label %e

e:                                                ; preds = %d, %b0
  %p2 = phi float [ %q2, %d ], [ 0.000000e+00, %b0 ]
  store float %p2, ptr addrspace(1) %out, align 4
  br i1 %c, label %h, label %g

g:                                                ; preds = %e
  %q3 = fdiv float %x, %y
  br label %h

h:                                                ; preds = %g, %e
  %p3 = phi float [ %q3, %g ], [ 0.000000e+00, %e ]
  store float %p3, ptr addrspace(1) %out, align 4
  br i1 %c, label %i, label %j

i:                                                ; preds = %h
  %q4 = fdiv float %z, %y
  br label %j

j:                                                ; preds = %i, %h
  %p4 = phi float [ %q4, %i ], [ 0.000000e+00, %h ]
  store float %p4, ptr addrspace(1) %out, align 4
  br i1 %c, label %l, label %b

l:                                                ; preds = %j
  %q5 = fdiv arcp float %x, %y
  br label %b

b:                                                ; preds = %l, %j, %entry
  %p5 = phi float [ %q5, %l ], [ 0.000000e+00, %j ], [ 0.000000e+00, %entry ]
  store float %p5, ptr addrspace(1) %out, align 4
  br i1 %c, label %m, label %n

m:                                                ; preds = %b
  %q6 = fdiv float %x, %y
  br label %n

n:                                                ; preds = %m, %b
  %p6 = phi float [ %q6, %m ], [ 0.000000e+00, %b ]
  store float %p6, ptr addrspace(1) %out, align 4
  ret void
}

attributes #0 = { nounwind }
