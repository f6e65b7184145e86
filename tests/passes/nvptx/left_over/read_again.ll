; opt=3
; x[k + 1] - x[k - 1] and x[k] of three iterations: five elements, not nine.
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, ptr addrspace(1) align 4 %1, i32 range(i32 0, -2147483648) %2, i32 %3) #0 {
entry:
  %xtraiter = and i32 %2, 3
  %4 = icmp eq i32 %xtraiter, 0
  br i1 %4, label %b3, label %b2

b2:                                               ; preds = %entry, %b2
  %5 = phi i32 [ %9, %b2 ], [ 1, %entry ]
  %6 = phi i32 [ %21, %b2 ], [ 0, %entry ]
  %7 = phi float [ %20, %b2 ], [ 0.000000e+00, %entry ]
  %9 = add nuw nsw i32 %5, 1
  %10 = add nuw nsw i32 %5, %3
  %11 = zext nneg i32 %10 to i64
  %12 = getelementptr float, ptr addrspace(1) %0, i64 %11
  %13 = getelementptr i8, ptr addrspace(1) %12, i64 4
  %14 = load float, ptr addrspace(1) %13, align 4
  %15 = getelementptr i8, ptr addrspace(1) %12, i64 -4
  %16 = load float, ptr addrspace(1) %15, align 4
  %17 = load float, ptr addrspace(1) %12, align 4
  %18 = fsub float %14, %16
  %19 = fmul float %18, %17
  %20 = fadd float %7, %19
  %21 = add nuw nsw i32 %6, 1
  %22 = icmp eq i32 %21, %xtraiter
  br i1 %22, label %b3, label %b2, !llvm.loop !0

b3:                                               ; preds = %b2, %entry
  %.lcssa = phi float [ 0.000000e+00, %entry ], [ %20, %b2 ]
  store float %.lcssa, ptr addrspace(1) %1, align 4
  ret void
}

; A sum that may wrap is no distance: what is extended may be elsewhere.
define ptx_kernel void @wraps(ptr addrspace(1) align 4 %0, ptr addrspace(1) align 4 %1, i32 range(i32 0, -2147483648) %2, i32 %3) #0 {
entry:
  %xtraiter = and i32 %2, 3
  %4 = icmp eq i32 %xtraiter, 0
  br i1 %4, label %b3, label %b2

b2:                                               ; preds = %entry, %b2
  %5 = phi i32 [ %9, %b2 ], [ 1, %entry ]
  %6 = phi i32 [ %21, %b2 ], [ 0, %entry ]
  %7 = phi float [ %20, %b2 ], [ 0.000000e+00, %entry ]
  %9 = add nuw nsw i32 %5, 1
  %10 = add i32 %5, %3
  %11 = zext i32 %10 to i64
  %12 = getelementptr float, ptr addrspace(1) %0, i64 %11
  %13 = getelementptr i8, ptr addrspace(1) %12, i64 4
  %14 = load float, ptr addrspace(1) %13, align 4
  %17 = load float, ptr addrspace(1) %12, align 4
  %18 = fsub float %14, %17
  %20 = fadd float %7, %18
  %21 = add nuw nsw i32 %6, 1
  %22 = icmp eq i32 %21, %xtraiter
  br i1 %22, label %b3, label %b2, !llvm.loop !0

b3:                                               ; preds = %b2, %entry
  %.lcssa = phi float [ 0.000000e+00, %entry ], [ %20, %b2 ]
  store float %.lcssa, ptr addrspace(1) %1, align 4
  ret void
}

attributes #0 = { nounwind }

!0 = distinct !{!0, !1, !2}
!1 = !{!"llvm.loop.unroll.disable"}
!2 = !{!"pyptx.rest", i32 3}
