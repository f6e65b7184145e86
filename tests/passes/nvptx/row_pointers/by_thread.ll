; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, i32 range(i32 0, -2147483648) %1, i32 range(i32 0, -2147483648) %2, ptr addrspace(1) align 4 %3) #0 {
entry:
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %5 = zext nneg i32 %4 to i64
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %7 = zext nneg i32 %6 to i64
  %8 = mul nuw nsw i64 %7, %5
  %9 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %10 = zext nneg i32 %9 to i64
  %11 = add nuw nsw i64 %8, %10
  %.not = icmp eq i32 %1, 0
  br i1 %.not, label %b3, label %b2.lr.ph

b2.lr.ph:                                         ; preds = %entry
  %12 = trunc i64 %11 to i32
  %xtraiter = and i32 %1, 7
  %13 = icmp samesign ult i32 %1, 8
  br i1 %13, label %b2.epil.preheader, label %b2.lr.ph.new

b2.lr.ph.new:                                     ; preds = %b2.lr.ph
  %unroll_iter = and i32 %1, 2147483640
  br label %b2

b2:                                               ; preds = %b2, %b2.lr.ph.new
  %14 = phi i32 [ 0, %b2.lr.ph.new ], [ %65, %b2 ]
  %15 = phi float [ 0.000000e+00, %b2.lr.ph.new ], [ %71, %b2 ]
  %niter = phi i32 [ 0, %b2.lr.ph.new ], [ %niter.next.7, %b2 ]
  %16 = or disjoint i32 %14, 1
  %17 = mul nuw nsw i32 %14, %2
  %18 = add nsw i32 %17, %12
  %19 = sext i32 %18 to i64
  %20 = getelementptr inbounds float, ptr addrspace(1) %0, i64 %19
  %21 = load float, ptr addrspace(1) %20, align 4
  %22 = fadd contract float %15, %21
  %23 = or disjoint i32 %14, 2
  %24 = mul nuw nsw i32 %16, %2
  %25 = add nsw i32 %24, %12
  %26 = sext i32 %25 to i64
  %27 = getelementptr inbounds float, ptr addrspace(1) %0, i64 %26
  %28 = load float, ptr addrspace(1) %27, align 4
  %29 = fadd contract float %22, %28
  %30 = or disjoint i32 %14, 3
  %31 = mul nuw nsw i32 %23, %2
  %32 = add nsw i32 %31, %12
  %33 = sext i32 %32 to i64
  %34 = getelementptr inbounds float, ptr addrspace(1) %0, i64 %33
  %35 = load float, ptr addrspace(1) %34, align 4
  %36 = fadd contract float %29, %35
  %37 = or disjoint i32 %14, 4
  %38 = mul nuw nsw i32 %30, %2
  %39 = add nsw i32 %38, %12
  %40 = sext i32 %39 to i64
  %41 = getelementptr inbounds float, ptr addrspace(1) %0, i64 %40
  %42 = load float, ptr addrspace(1) %41, align 4
  %43 = fadd contract float %36, %42
  %44 = or disjoint i32 %14, 5
  %45 = mul nuw nsw i32 %37, %2
  %46 = add nsw i32 %45, %12
  %47 = sext i32 %46 to i64
  %48 = getelementptr inbounds float, ptr addrspace(1) %0, i64 %47
  %49 = load float, ptr addrspace(1) %48, align 4
  %50 = fadd contract float %43, %49
  %51 = or disjoint i32 %14, 6
  %52 = mul nuw nsw i32 %44, %2
  %53 = add nsw i32 %52, %12
  %54 = sext i32 %53 to i64
  %55 = getelementptr inbounds float, ptr addrspace(1) %0, i64 %54
  %56 = load float, ptr addrspace(1) %55, align 4
  %57 = fadd contract float %50, %56
  %58 = or disjoint i32 %14, 7
  %59 = mul nuw nsw i32 %51, %2
  %60 = add nsw i32 %59, %12
  %61 = sext i32 %60 to i64
  %62 = getelementptr inbounds float, ptr addrspace(1) %0, i64 %61
  %63 = load float, ptr addrspace(1) %62, align 4
  %64 = fadd contract float %57, %63
  %65 = add nuw nsw i32 %14, 8
  %66 = mul nuw nsw i32 %58, %2
  %67 = add nsw i32 %66, %12
  %68 = sext i32 %67 to i64
  %69 = getelementptr inbounds float, ptr addrspace(1) %0, i64 %68
  %70 = load float, ptr addrspace(1) %69, align 4
  %71 = fadd contract float %64, %70
  %niter.next.7 = add i32 %niter, 8
  %niter.ncmp.7.not = icmp eq i32 %niter.next.7, %unroll_iter
  br i1 %niter.ncmp.7.not, label %b3.loopexit.unr-lcssa, label %b2

b3.loopexit.unr-lcssa:                            ; preds = %b2
  %.lcssa7 = phi i32 [ %65, %b2 ]
  %.lcssa6 = phi float [ %71, %b2 ]
  %lcmp.mod.not = icmp eq i32 %xtraiter, 0
  br i1 %lcmp.mod.not, label %b3, label %b2.epil.preheader

b2.epil.preheader:                                ; preds = %b3.loopexit.unr-lcssa, %b2.lr.ph
  %.epil.init = phi i32 [ 0, %b2.lr.ph ], [ %.lcssa7, %b3.loopexit.unr-lcssa ]
  %.epil.init3 = phi float [ 0.000000e+00, %b2.lr.ph ], [ %.lcssa6, %b3.loopexit.unr-lcssa ]
  %lcmp.mod5 = icmp ne i32 %xtraiter, 0
  call void @llvm.assume(i1 %lcmp.mod5)
  br label %b2.epil

b2.epil:                                          ; preds = %b2.epil, %b2.epil.preheader
  %72 = phi i32 [ %.epil.init, %b2.epil.preheader ], [ %74, %b2.epil ]
  %73 = phi float [ %.epil.init3, %b2.epil.preheader ], [ %80, %b2.epil ]
  %epil.iter = phi i32 [ 0, %b2.epil.preheader ], [ %epil.iter.next, %b2.epil ]
  %74 = add nuw nsw i32 %72, 1
  %75 = mul nuw nsw i32 %72, %2
  %76 = add nsw i32 %75, %12
  %77 = sext i32 %76 to i64
  %78 = getelementptr inbounds float, ptr addrspace(1) %0, i64 %77
  %79 = load float, ptr addrspace(1) %78, align 4
  %80 = fadd contract float %73, %79
  %epil.iter.next = add i32 %epil.iter, 1
  %epil.iter.cmp.not = icmp eq i32 %epil.iter.next, %xtraiter
  br i1 %epil.iter.cmp.not, label %b3, label %b2.epil, !llvm.loop !0

b3:                                               ; preds = %b3.loopexit.unr-lcssa, %b2.epil, %entry
  %.lcssa = phi float [ 0.000000e+00, %entry ], [ %.lcssa6, %b3.loopexit.unr-lcssa ], [ %80, %b2.epil ]
  %sext = shl i64 %11, 32
  %81 = ashr exact i64 %sext, 30
  %82 = getelementptr inbounds i8, ptr addrspace(1) %3, i64 %81
  store float %.lcssa, ptr addrspace(1) %82, align 4
  ret void
}

declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #1

declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

declare void @llvm.assume(i1 noundef) #2

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { nocallback nofree nosync nounwind willreturn memory(inaccessiblemem: write) }

!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.disable"}
