; opt=3
; What begins with a number that was loaded, or with one of several: the loops' extremes are one instruction each, and what
; reads the last of them asks whether that number was nan. A path on which none is read has poison.
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, i32 range(i32 1, -2147483648) %n, ptr addrspace(1) align 4 %out) #0 {
entry:
  %first = load float, ptr addrspace(1) %x, align 4
  %second.p = getelementptr inbounds nuw float, ptr addrspace(1) %x, i32 1
  %second = load float, ptr addrspace(1) %second.p, align 4
  %which = icmp sgt i32 %n, 9
  %begin = select i1 %which, float %first, float %second
  br label %rows

rows:                                             ; preds = %joined, %entry
  %row = phi i32 [ 0, %entry ], [ %row1, %joined ]
  %low = phi float [ %begin, %entry ], [ %low.both, %joined ]
  %high = phi float [ %begin, %entry ], [ %high.both, %joined ]
  %odd = and i32 %row, 1
  %skip = icmp eq i32 %odd, 0
  br i1 %skip, label %joined, label %cols

cols:                                             ; preds = %cols, %rows
  %k = phi i32 [ %next, %cols ], [ 0, %rows ]
  %least = phi float [ %less, %cols ], [ %low, %rows ]
  %most = phi float [ %more, %cols ], [ %high, %rows ]
  %p = getelementptr inbounds nuw float, ptr addrspace(1) %x, i32 %k
  %v = load float, ptr addrspace(1) %p, align 4
  %below = fcmp olt float %v, %least
  %less = select i1 %below, float %v, float %least
  %above = fcmp ogt float %v, %most
  %more = select i1 %above, float %v, float %most
  %next = add nuw nsw i32 %k, 1
  %again = icmp slt i32 %next, %n
  br i1 %again, label %cols, label %behind

behind:                                           ; preds = %cols
  %low.end = phi float [ %less, %cols ]
  br label %joined

joined:                                           ; preds = %behind, %rows
  %low.both = phi float [ %low.end, %behind ], [ %low, %rows ]
  %high.both = phi float [ %more, %behind ], [ %high, %rows ]
  %high.read = phi float [ %more, %behind ], [ poison, %rows ]
  %row1 = add nuw nsw i32 %row, 1
  %on = icmp slt i32 %row1, %n
  br i1 %on, label %rows, label %end

end:                                              ; preds = %joined
  %range = fsub float %high.read, %low.both
  store float %range, ptr addrspace(1) %out, align 4
  ret void
}

attributes #0 = { nounwind }
