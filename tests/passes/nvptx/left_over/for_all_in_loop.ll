; opt=3
; The same in another loop: what a way may not load begins with 0, so that its register is free
; elsewhere.
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, i32 %n, i32 %rows, ptr addrspace(1) align 4 %out) #0 {
entry:
  br label %row

row:                                              ; preds = %entry, %end
  %r = phi i32 [ 0, %entry ], [ %below, %end ]
  %some = icmp ne i32 %n, 0
  br i1 %some, label %rest, label %end

rest:                                             ; preds = %row, %rest
  %i = phi i32 [ %next, %rest ], [ 0, %row ]
  %at = phi i32 [ %further, %rest ], [ 5, %row ]
  %sum = phi float [ %more, %rest ], [ 0.000000e+00, %row ]
  %wide = sext i32 %at to i64
  %p = getelementptr inbounds float, ptr addrspace(1) %x, i64 %wide
  %v = load float, ptr addrspace(1) %p, align 4
  %more = fadd contract float %sum, %v
  %further = add nsw i32 %at, 32
  %next = add i32 %i, 1
  %again = icmp ne i32 %next, %n
  br i1 %again, label %rest, label %end, !llvm.loop !0

end:                                              ; preds = %rest, %row
  %all = phi float [ 0.000000e+00, %row ], [ %more, %rest ]
  %place = getelementptr inbounds float, ptr addrspace(1) %out, i32 %r
  store float %all, ptr addrspace(1) %place, align 4
  %below = add nuw nsw i32 %r, 1
  %rows.left = icmp slt i32 %below, %rows
  br i1 %rows.left, label %row, label %done

done:                                             ; preds = %end
  ret void
}

attributes #0 = { nounwind }

!0 = distinct !{!0, !1, !2}
!1 = !{!"llvm.loop.unroll.disable"}
!2 = !{!"pyptx.rest", i32 7}
