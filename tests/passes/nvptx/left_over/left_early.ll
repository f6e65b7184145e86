; opt=3
; An iteration may be the last by what it reads: each round asks that again, and three iterations are
; two rounds.
define void @k(ptr addrspace(1) align 4 %x, i32 %count, i32 %bound, ptr addrspace(1) align 4 %out) #0 {
entry:
  %n = and i32 %count, 3
  %some = icmp ne i32 %n, 0
  br i1 %some, label %rest, label %end

rest:                                             ; preds = %entry, %again
  %i = phi i32 [ %next, %again ], [ 0, %entry ]
  %sum = phi float [ %all, %again ], [ 0.000000e+00, %entry ]
  %at = add nsw i32 %i, %bound
  %inside = icmp ult i32 %at, %count
  br i1 %inside, label %read, label %again

read:                                             ; preds = %rest
  %wide = sext i32 %at to i64
  %p = getelementptr inbounds float, ptr addrspace(1) %x, i64 %wide
  %v = load float, ptr addrspace(1) %p, align 4
  %more = fadd contract float %sum, %v
  %last.one = fcmp olt float %v, 0.000000e+00
  br i1 %last.one, label %end, label %again

again:                                            ; preds = %read, %rest
  %all = phi float [ %more, %read ], [ %sum, %rest ]
  %next = add nuw nsw i32 %i, 1
  %on = icmp ne i32 %next, %n
  br i1 %on, label %rest, label %end, !llvm.loop !0

end:                                              ; preds = %again, %read, %entry
  %last = phi float [ 0.000000e+00, %entry ], [ %all, %again ], [ %more, %read ]
  store float %last, ptr addrspace(1) %out, align 4
  ret void
}

attributes #0 = { nounwind }

!0 = distinct !{!0, !1, !2}
!1 = !{!"llvm.loop.unroll.disable"}
!2 = !{!"pyptx.rest", i32 3}
