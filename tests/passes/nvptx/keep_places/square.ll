; opt=3
; A square of a number that nothing else uses, in a later block that is reached in any case: it goes
; back to the number. Not a square of one that is used elsewhere too, nor one behind a condition.
define ptx_kernel void @k(ptr addrspace(1) align 8 %x, i32 %n, ptr addrspace(1) align 8 %out) #0 {
entry:
  %a = load double, ptr addrspace(1) %x, align 8
  %q = getelementptr inbounds double, ptr addrspace(1) %x, i64 1
  %b = load double, ptr addrspace(1) %q, align 8
  %s = fmul double %a, %b
  %t = fadd double %a, %b
  %u = fsub double %a, %b
  %some = icmp ugt i32 %n, 1
  br i1 %some, label %yes, label %behind

yes:                                              ; preds = %entry
  %uu = fmul double %u, %u
  br label %behind

behind:                                           ; preds = %yes, %entry
  %v = phi double [ %uu, %yes ], [ 0.000000e+00, %entry ]
  %ss = fmul double %s, %s
  %tt = fmul double %t, %t
  %more = icmp ugt i32 %n, 2
  br i1 %more, label %last, label %end

last:                                             ; preds = %behind
  %sum = fadd double %tt, %v
  store double %sum, ptr addrspace(1) %out, align 8
  br label %end

end:                                              ; preds = %last, %behind
  %w = phi double [ %v, %last ], [ %t, %behind ]
  %both = fadd double %w, %ss
  %r = getelementptr inbounds double, ptr addrspace(1) %out, i64 1
  store double %both, ptr addrspace(1) %r, align 8
  ret void
}

attributes #0 = { nounwind }
