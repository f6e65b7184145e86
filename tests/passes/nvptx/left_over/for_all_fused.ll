; opt=3
; The same of a product that coarsening has fused with its sum.
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, i32 %n, ptr addrspace(1) align 4 %out) #0 {
entry:
  %some = icmp ne i32 %n, 0
  br i1 %some, label %rest, label %end

rest:                                             ; preds = %entry, %rest
  %i = phi i32 [ %next, %rest ], [ 0, %entry ]
  %at = phi i32 [ %further, %rest ], [ 5, %entry ]
  %sum = phi float [ %more, %rest ], [ 0.000000e+00, %entry ]
  %wide = sext i32 %at to i64
  %p = getelementptr inbounds float, ptr addrspace(1) %x, i64 %wide
  %v = load float, ptr addrspace(1) %p, align 4
  %more = call float @llvm.fma.f32(float %v, float %v, float %sum)
  %further = add nsw i32 %at, 32
  %next = add i32 %i, 1
  %again = icmp ne i32 %next, %n
  br i1 %again, label %rest, label %end, !llvm.loop !0

end:                                              ; preds = %rest, %entry
  %all = phi float [ 0.000000e+00, %entry ], [ %more, %rest ]
  store float %all, ptr addrspace(1) %out, align 4
  ret void
}

declare float @llvm.fma.f32(float, float, float)

attributes #0 = { nounwind }

!0 = distinct !{!0, !1, !2}
!1 = !{!"llvm.loop.unroll.disable"}
!2 = !{!"pyptx.rest", i32 3}
