; opt=3
; Searches from both ends: the index of the first is not negative, that of the second is wrapped,
; and both are offsets in bytes by now. What comes from the first loop has 64 bits behind it.
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, i32 %n, float %v, i64 %from, ptr addrspace(1) align 8 %out) #0 {
entry:
  %extent = zext nneg i32 %n to i64
  br label %up

up:                                               ; preds = %up, %entry
  %i = phi i64 [ 0, %entry ], [ %more, %up ]
  %high = shl i64 %i, 32
  %offset = ashr exact i64 %high, 30
  %a = getelementptr inbounds i8, ptr addrspace(1) %x, i64 %offset
  %e = load float, ptr addrspace(1) %a, align 4, !pyptx.in_range !0
  %less = fcmp olt float %e, %v
  %more = add i64 %i, 1
  br i1 %less, label %up, label %down.preheader

down.preheader:                                   ; preds = %up
  %last = phi i64 [ %i, %up ]
  br label %down

down:                                             ; preds = %down, %down.preheader
  %j = phi i64 [ %fewer, %down ], [ %from, %down.preheader ]
  %negative = icmp slt i64 %j, 0
  %by = select i1 %negative, i64 %extent, i64 0
  %sum = add i64 %by, %j
  %low = shl i64 %sum, 32
  %place = ashr exact i64 %low, 30
  %b = getelementptr inbounds i8, ptr addrspace(1) %x, i64 %place
  %f = load float, ptr addrspace(1) %b, align 4, !pyptx.in_range !0
  %greater = fcmp ogt float %f, %v
  %fewer = add i64 %j, -1
  br i1 %greater, label %down, label %end

end:                                              ; preds = %down
  %first = phi i64 [ %j, %down ]
  %between = sub i64 %first, %last
  store i64 %between, ptr addrspace(1) %out, align 8
  ret void
}

attributes #0 = { nounwind }

!0 = !{}
