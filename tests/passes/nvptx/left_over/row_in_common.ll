; opt=3
; Of a row that threadIdx.y chooses a warp's threads have as many left over: it is asked for.
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, ptr addrspace(1) align 4 %1, ptr addrspace(1) align 4 %2) #0 {
entry:
  %3 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %4 = sext i32 %3 to i64
  %5 = getelementptr inbounds i32, ptr addrspace(1) %0, i64 %4
  %6 = load i32, ptr addrspace(1) %5, align 4
  %xtraiter = and i32 %6, 3
  %7 = icmp eq i32 %xtraiter, 0
  br i1 %7, label %b3, label %b2

b2:                                               ; preds = %entry, %b2
  %8 = phi i32 [ %10, %b2 ], [ 0, %entry ]
  %9 = phi float [ %14, %b2 ], [ 0.000000e+00, %entry ]
  %10 = add nuw nsw i32 %8, 1
  %11 = zext nneg i32 %8 to i64
  %12 = getelementptr inbounds nuw float, ptr addrspace(1) %1, i64 %11
  %13 = load float, ptr addrspace(1) %12, align 4
  %14 = fadd contract float %9, %13
  %15 = icmp eq i32 %10, %xtraiter
  br i1 %15, label %b3, label %b2, !llvm.loop !0

b3:                                               ; preds = %b2, %entry
  %.lcssa = phi float [ 0.000000e+00, %entry ], [ %14, %b2 ]
  %16 = getelementptr inbounds float, ptr addrspace(1) %2, i64 %4
  store float %.lcssa, ptr addrspace(1) %16, align 4
  ret void
}

declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.y() #1

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }

!0 = distinct !{!0, !1, !2}
!1 = !{!"llvm.loop.unroll.disable"}
!2 = !{!"pyptx.rest", i32 3}
