; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, i64 %1, ptr addrspace(1) align 4 %2) #0 {
entry:
  %3 = trunc i64 %1 to i32
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %6 = mul i32 %5, %4
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %8 = add i32 %6, %7
  %9 = sext i32 %8 to i64
  %10 = getelementptr inbounds i32, ptr addrspace(1) %0, i64 %9
  %11 = load i32, ptr addrspace(1) %10, align 4
  %12 = icmp sgt i32 %3, 0
  br i1 %12, label %b2.preheader, label %b3

b2.preheader:                                     ; preds = %entry
  %xtraiter = and i32 %3, 3
  %13 = icmp ult i32 %3, 4
  br i1 %13, label %b2.epil.preheader, label %b2.preheader.new

b2.preheader.new:                                 ; preds = %b2.preheader
  %unroll_iter = and i32 %3, 2147483644
  br label %b2

b2:                                               ; preds = %b2, %b2.preheader.new
  %14 = phi i32 [ %11, %b2.preheader.new ], [ %16, %b2 ]
  %niter = phi i32 [ 0, %b2.preheader.new ], [ %niter.next.3, %b2 ]
  %15 = mul i32 %14, 625
  %16 = add i32 %15, 468
  %niter.next.3 = add i32 %niter, 4
  %niter.ncmp.3.not = icmp eq i32 %niter.next.3, %unroll_iter
  br i1 %niter.ncmp.3.not, label %b3.loopexit.unr-lcssa, label %b2, !llvm.loop !0

b3.loopexit.unr-lcssa:                            ; preds = %b2
  %.lcssa6 = phi i32 [ %16, %b2 ]
  %lcmp.mod.not = icmp eq i32 %xtraiter, 0
  br i1 %lcmp.mod.not, label %b3, label %b2.epil.preheader

b2.epil.preheader:                                ; preds = %b3.loopexit.unr-lcssa, %b2.preheader
  %.epil.init3 = phi i32 [ %11, %b2.preheader ], [ %.lcssa6, %b3.loopexit.unr-lcssa ]
  %lcmp.mod5 = icmp ne i32 %xtraiter, 0
  call void @llvm.assume(i1 %lcmp.mod5)
  br label %b2.epil

b2.epil:                                          ; preds = %b2.epil, %b2.epil.preheader
  %17 = phi i32 [ %19, %b2.epil ], [ %.epil.init3, %b2.epil.preheader ]
  %epil.iter = phi i32 [ %epil.iter.next, %b2.epil ], [ 0, %b2.epil.preheader ]
  %18 = mul i32 %17, 5
  %19 = add i32 %18, 3
  %epil.iter.next = add i32 %epil.iter, 1
  %epil.iter.cmp.not = icmp eq i32 %epil.iter.next, %xtraiter
  br i1 %epil.iter.cmp.not, label %b3, label %b2.epil, !llvm.loop !3

b3:                                               ; preds = %b3.loopexit.unr-lcssa, %b2.epil, %entry
  %.lcssa = phi i32 [ %11, %entry ], [ %.lcssa6, %b3.loopexit.unr-lcssa ], [ %19, %b2.epil ]
  %20 = getelementptr inbounds i32, ptr addrspace(1) %2, i64 %9
  store i32 %.lcssa, ptr addrspace(1) %20, align 4
  ret void
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(inaccessiblemem: write)
declare void @llvm.assume(i1 noundef) #2

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { nocallback nofree nosync nounwind willreturn memory(inaccessiblemem: write) }

!0 = distinct !{!0, !1, !2}
!1 = !{!"llvm.loop.unroll.disable"}
!2 = !{!"pyptx.unrolled", i32 4}
!3 = distinct !{!3, !1, !4}
!4 = !{!"pyptx.rest", i32 3}
