; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 1 %0, i32 range(i32 0, -2147483648) %1, i64 %2, ptr addrspace(1) align 8 %3) #0 {
entry:
  %4 = zext nneg i32 %1 to i64
  %sext = shl i64 %2, 32
  %5 = ashr exact i64 %sext, 32
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %7 = zext nneg i32 %6 to i64
  %8 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %9 = zext nneg i32 %8 to i64
  %10 = mul nuw nsw i64 %9, %7
  %11 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %12 = zext nneg i32 %11 to i64
  %13 = add nuw nsw i64 %10, %12
  %14 = sub nsw i64 %13, %5
  %15 = icmp sgt i64 %5, 0
  br i1 %15, label %b2.preheader, label %b3

b2.preheader:                                     ; preds = %entry
  %16 = ashr exact i64 %sext, 31
  %17 = add nsw i64 %16, -1
  %xtraiter = and i64 %16, 2
  %18 = icmp ult i64 %17, 3
  br i1 %18, label %b2.epil.preheader, label %b2.preheader.new

b2.preheader.new:                                 ; preds = %b2.preheader
  %unroll_iter = and i64 %16, -4
  br label %b2

b2:                                               ; preds = %b2, %b2.preheader.new
  %19 = phi i64 [ %14, %b2.preheader.new ], [ %48, %b2 ]
  %20 = phi i64 [ 0, %b2.preheader.new ], [ %56, %b2 ]
  %niter = phi i64 [ 0, %b2.preheader.new ], [ %niter.next.3, %b2 ]
  %21 = add nsw i64 %19, 1
  %22 = icmp slt i64 %19, 0
  %23 = select i1 %22, i64 %4, i64 0
  %24 = add i64 %23, %19
  %sext2 = shl i64 %24, 32
  %25 = ashr exact i64 %sext2, 32
  %26 = getelementptr inbounds i8, ptr addrspace(1) %0, i64 %25
  %27 = load i8, ptr addrspace(1) %26, align 1
  %28 = zext i8 %27 to i64
  %29 = add i64 %20, %28
  %30 = add nsw i64 %19, 2
  %31 = icmp slt i64 %19, -1
  %32 = select i1 %31, i64 %4, i64 0
  %33 = add i64 %32, %21
  %sext2.1 = shl i64 %33, 32
  %34 = ashr exact i64 %sext2.1, 32
  %35 = getelementptr inbounds i8, ptr addrspace(1) %0, i64 %34
  %36 = load i8, ptr addrspace(1) %35, align 1
  %37 = zext i8 %36 to i64
  %38 = add i64 %29, %37
  %39 = add nsw i64 %19, 3
  %40 = icmp slt i64 %19, -2
  %41 = select i1 %40, i64 %4, i64 0
  %42 = add i64 %41, %30
  %sext2.2 = shl i64 %42, 32
  %43 = ashr exact i64 %sext2.2, 32
  %44 = getelementptr inbounds i8, ptr addrspace(1) %0, i64 %43
  %45 = load i8, ptr addrspace(1) %44, align 1
  %46 = zext i8 %45 to i64
  %47 = add i64 %38, %46
  %48 = add nsw i64 %19, 4
  %49 = icmp slt i64 %19, -3
  %50 = select i1 %49, i64 %4, i64 0
  %51 = add i64 %50, %39
  %sext2.3 = shl i64 %51, 32
  %52 = ashr exact i64 %sext2.3, 32
  %53 = getelementptr inbounds i8, ptr addrspace(1) %0, i64 %52
  %54 = load i8, ptr addrspace(1) %53, align 1
  %55 = zext i8 %54 to i64
  %56 = add i64 %47, %55
  %niter.next.3 = add i64 %niter, 4
  %niter.ncmp.3.not = icmp eq i64 %niter.next.3, %unroll_iter
  br i1 %niter.ncmp.3.not, label %b3.loopexit.unr-lcssa, label %b2, !llvm.loop !0

b3.loopexit.unr-lcssa:                            ; preds = %b2
  %.lcssa10 = phi i64 [ %48, %b2 ]
  %.lcssa9 = phi i64 [ %56, %b2 ]
  %lcmp.mod.not = icmp eq i64 %xtraiter, 0
  br i1 %lcmp.mod.not, label %b3, label %b2.epil.preheader

b2.epil.preheader:                                ; preds = %b3.loopexit.unr-lcssa, %b2.preheader
  %.epil.init = phi i64 [ %14, %b2.preheader ], [ %.lcssa10, %b3.loopexit.unr-lcssa ]
  %.epil.init6 = phi i64 [ 0, %b2.preheader ], [ %.lcssa9, %b3.loopexit.unr-lcssa ]
  %lcmp.mod8 = icmp ne i64 %xtraiter, 0
  call void @llvm.assume(i1 %lcmp.mod8)
  br label %b2.epil

b2.epil:                                          ; preds = %b2.epil, %b2.epil.preheader
  %57 = phi i64 [ %59, %b2.epil ], [ %.epil.init, %b2.epil.preheader ]
  %58 = phi i64 [ %67, %b2.epil ], [ %.epil.init6, %b2.epil.preheader ]
  %epil.iter = phi i64 [ %epil.iter.next, %b2.epil ], [ 0, %b2.epil.preheader ]
  %59 = add nsw i64 %57, 1
  %60 = icmp slt i64 %57, 0
  %61 = select i1 %60, i64 %4, i64 0
  %62 = add i64 %61, %57
  %sext2.epil = shl i64 %62, 32
  %63 = ashr exact i64 %sext2.epil, 32
  %64 = getelementptr inbounds i8, ptr addrspace(1) %0, i64 %63
  %65 = load i8, ptr addrspace(1) %64, align 1
  %66 = zext i8 %65 to i64
  %67 = add i64 %58, %66
  %epil.iter.next = add i64 %epil.iter, 1
  %epil.iter.cmp.not = icmp eq i64 %epil.iter.next, 2
  br i1 %epil.iter.cmp.not, label %b3, label %b2.epil, !llvm.loop !3

b3:                                               ; preds = %b3.loopexit.unr-lcssa, %b2.epil, %entry
  %.lcssa = phi i64 [ 0, %entry ], [ %.lcssa9, %b3.loopexit.unr-lcssa ], [ %67, %b2.epil ]
  %sext1 = shl i64 %13, 32
  %68 = ashr exact i64 %sext1, 29
  %69 = getelementptr inbounds i8, ptr addrspace(1) %3, i64 %68
  store i64 %.lcssa, ptr addrspace(1) %69, align 8
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
