; opt=3
; The index is the variable and a constant, not wrapped.
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, float %v, ptr addrspace(1) align 8 %out) #0 {
entry:
  br label %up

up:                                               ; preds = %up, %entry
  %i = phi i64 [ 0, %entry ], [ %more, %up ]
  %next = add i64 %i, 5
  %high = shl i64 %next, 32
  %offset = ashr exact i64 %high, 30
  %a = getelementptr inbounds i8, ptr addrspace(1) %x, i64 %offset
  %e = load float, ptr addrspace(1) %a, align 4, !pyptx.in_range !0
  %less = fcmp olt float %e, %v
  %more = add i64 %i, 1
  br i1 %less, label %up, label %end

end:                                              ; preds = %up
  %last = phi i64 [ %i, %up ]
  store i64 %last, ptr addrspace(1) %out, align 8
  ret void
}

attributes #0 = { nounwind }

!0 = !{}
