; opt=3
; A loop around counts the rows, whose lengths so are the same in all threads: LLVM unrolls the loop.
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, i32 range(i32 0, -2147483648) %1, ptr addrspace(1) align 4 %2, i32 range(i32 0, -2147483648) %3, ptr addrspace(1) align 4 %4) #0 {
entry:
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %b1

b1:                                               ; preds = %b3, %entry
  %6 = phi i32 [ 0, %entry ], [ %18, %b3 ]
  %7 = zext nneg i32 %6 to i64
  %8 = getelementptr inbounds nuw i32, ptr addrspace(1) %2, i64 %7
  %9 = load i32, ptr addrspace(1) %8, align 4
  %10 = icmp sgt i32 %9, 0
  br i1 %10, label %b2, label %b3

b2:                                               ; preds = %b1, %b2
  %11 = phi i32 [ %13, %b2 ], [ 0, %b1 ]
  %12 = phi float [ %17, %b2 ], [ 0.000000e+00, %b1 ]
  %13 = add nuw nsw i32 %11, 1
  %14 = mul nuw nsw i32 %11, %1
  %15 = add nuw nsw i32 %14, %5
  %i = zext nneg i32 %15 to i64
  %p = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %i
  %16 = load float, ptr addrspace(1) %p, align 4
  %17 = fadd contract float %12, %16
  %exitcond.not = icmp eq i32 %13, %9
  br i1 %exitcond.not, label %b3, label %b2, !llvm.loop !0

b3:                                               ; preds = %b2, %b1
  %.lcssa = phi float [ 0.000000e+00, %b1 ], [ %17, %b2 ]
  %q = getelementptr inbounds nuw float, ptr addrspace(1) %4, i64 %7
  store float %.lcssa, ptr addrspace(1) %q, align 4
  %18 = add nuw nsw i32 %6, 1
  %19 = icmp eq i32 %18, %3
  br i1 %19, label %b4, label %b1

b4:                                               ; preds = %b3
  ret void
}

declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }

!0 = distinct !{!0, !1, !2}
!1 = !{!"llvm.loop.unroll.disable"}
!2 = !{!"pyptx.masked", i32 8}
