; Products that only sums read are left to be contracted. Of two in one sum one stays: the one with
; more uses (%a), else the second (%d), or the one of another block (%e).
define ptx_kernel void @k(ptr addrspace(1) %p, float %x, float %y, i32 %n) {
entry:
  %e = fmul contract float %x, 5.0
  %a = fmul contract float %x, %y
  %b = fmul contract float %x, %x
  %ab = fadd contract float %a, %b
  %a2 = fsub contract float %a, %y
  store float %a2, ptr addrspace(1) %p
  %c = fmul contract float %x, 3.0
  %d = fmul contract float %y, 3.0
  %cd = fsub contract float %c, %d
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %s = phi float [ %ab, %entry ], [ %t, %loop ]
  %g = fmul contract float %s, %cd
  %t = fadd contract float %e, %g
  %next = add nuw nsw i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %end

end:
  %q = getelementptr float, ptr addrspace(1) %p, i64 1
  store float %t, ptr addrspace(1) %q
  ret void
}
