; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, i32 range(i32 0, -2147483648) %1, i32 range(i32 0, -2147483648) %2, ptr addrspace(1) align 4 %3) #0 {
entry:
  %.not = icmp eq i32 %1, 0
  br i1 %.not, label %b3, label %b2.preheader

b2.preheader:                                     ; preds = %entry
  %xtraiter = and i32 %1, 7
  %4 = icmp samesign ult i32 %1, 8
  br i1 %4, label %b2.epil.preheader, label %b2.preheader.new

b2.preheader.new:                                 ; preds = %b2.preheader
  %unroll_iter = and i32 %1, 2147483640
  br label %b2

b2:                                               ; preds = %b2, %b2.preheader.new
  %5 = phi i32 [ 0, %b2.preheader.new ], [ %70, %b2 ]
  %6 = phi float [ 0.000000e+00, %b2.preheader.new ], [ %78, %b2 ]
  %niter = phi i32 [ 0, %b2.preheader.new ], [ %niter.next.7, %b2 ]
  %7 = or disjoint i32 %5, 1
  %8 = mul nuw nsw i32 %5, %2
  %9 = zext nneg i32 %8 to i64
  %10 = getelementptr float, ptr addrspace(1) %0, i64 %9
  %11 = load float, ptr addrspace(1) %10, align 4
  %12 = getelementptr i8, ptr addrspace(1) %10, i64 4
  %13 = load float, ptr addrspace(1) %12, align 4
  %14 = fmul contract float %11, %13
  %15 = fadd contract float %6, %14
  %16 = or disjoint i32 %5, 2
  %17 = mul nuw nsw i32 %7, %2
  %18 = zext nneg i32 %17 to i64
  %19 = getelementptr float, ptr addrspace(1) %0, i64 %18
  %20 = load float, ptr addrspace(1) %19, align 4
  %21 = getelementptr i8, ptr addrspace(1) %19, i64 4
  %22 = load float, ptr addrspace(1) %21, align 4
  %23 = fmul contract float %20, %22
  %24 = fadd contract float %15, %23
  %25 = or disjoint i32 %5, 3
  %26 = mul nuw nsw i32 %16, %2
  %27 = zext nneg i32 %26 to i64
  %28 = getelementptr float, ptr addrspace(1) %0, i64 %27
  %29 = load float, ptr addrspace(1) %28, align 4
  %30 = getelementptr i8, ptr addrspace(1) %28, i64 4
  %31 = load float, ptr addrspace(1) %30, align 4
  %32 = fmul contract float %29, %31
  %33 = fadd contract float %24, %32
  %34 = or disjoint i32 %5, 4
  %35 = mul nuw nsw i32 %25, %2
  %36 = zext nneg i32 %35 to i64
  %37 = getelementptr float, ptr addrspace(1) %0, i64 %36
  %38 = load float, ptr addrspace(1) %37, align 4
  %39 = getelementptr i8, ptr addrspace(1) %37, i64 4
  %40 = load float, ptr addrspace(1) %39, align 4
  %41 = fmul contract float %38, %40
  %42 = fadd contract float %33, %41
  %43 = or disjoint i32 %5, 5
  %44 = mul nuw nsw i32 %34, %2
  %45 = zext nneg i32 %44 to i64
  %46 = getelementptr float, ptr addrspace(1) %0, i64 %45
  %47 = load float, ptr addrspace(1) %46, align 4
  %48 = getelementptr i8, ptr addrspace(1) %46, i64 4
  %49 = load float, ptr addrspace(1) %48, align 4
  %50 = fmul contract float %47, %49
  %51 = fadd contract float %42, %50
  %52 = or disjoint i32 %5, 6
  %53 = mul nuw nsw i32 %43, %2
  %54 = zext nneg i32 %53 to i64
  %55 = getelementptr float, ptr addrspace(1) %0, i64 %54
  %56 = load float, ptr addrspace(1) %55, align 4
  %57 = getelementptr i8, ptr addrspace(1) %55, i64 4
  %58 = load float, ptr addrspace(1) %57, align 4
  %59 = fmul contract float %56, %58
  %60 = fadd contract float %51, %59
  %61 = or disjoint i32 %5, 7
  %62 = mul nuw nsw i32 %52, %2
  %63 = zext nneg i32 %62 to i64
  %64 = getelementptr float, ptr addrspace(1) %0, i64 %63
  %65 = load float, ptr addrspace(1) %64, align 4
  %66 = getelementptr i8, ptr addrspace(1) %64, i64 4
  %67 = load float, ptr addrspace(1) %66, align 4
  %68 = fmul contract float %65, %67
  %69 = fadd contract float %60, %68
  %70 = add nuw nsw i32 %5, 8
  %71 = mul nuw nsw i32 %61, %2
  %72 = zext nneg i32 %71 to i64
  %73 = getelementptr float, ptr addrspace(1) %0, i64 %72
  %74 = load float, ptr addrspace(1) %73, align 4
  %75 = getelementptr i8, ptr addrspace(1) %73, i64 4
  %76 = load float, ptr addrspace(1) %75, align 4
  %77 = fmul contract float %74, %76
  %78 = fadd contract float %69, %77
  %niter.next.7 = add i32 %niter, 8
  %niter.ncmp.7.not = icmp eq i32 %niter.next.7, %unroll_iter
  br i1 %niter.ncmp.7.not, label %b3.loopexit.unr-lcssa, label %b2

b3.loopexit.unr-lcssa:                            ; preds = %b2
  %.lcssa7 = phi i32 [ %70, %b2 ]
  %.lcssa6 = phi float [ %78, %b2 ]
  %lcmp.mod.not = icmp eq i32 %xtraiter, 0
  br i1 %lcmp.mod.not, label %b3, label %b2.epil.preheader

b2.epil.preheader:                                ; preds = %b3.loopexit.unr-lcssa, %b2.preheader
  %.epil.init = phi i32 [ 0, %b2.preheader ], [ %.lcssa7, %b3.loopexit.unr-lcssa ]
  %.epil.init3 = phi float [ 0.000000e+00, %b2.preheader ], [ %.lcssa6, %b3.loopexit.unr-lcssa ]
  %lcmp.mod5 = icmp ne i32 %xtraiter, 0
  call void @llvm.assume(i1 %lcmp.mod5)
  br label %b2.epil

b2.epil:                                          ; preds = %b2.epil, %b2.epil.preheader
  %79 = phi i32 [ %81, %b2.epil ], [ %.epil.init, %b2.epil.preheader ]
  %80 = phi float [ %89, %b2.epil ], [ %.epil.init3, %b2.epil.preheader ]
  %epil.iter = phi i32 [ %epil.iter.next, %b2.epil ], [ 0, %b2.epil.preheader ]
  %81 = add nuw nsw i32 %79, 1
  %82 = mul nuw nsw i32 %79, %2
  %83 = sext i32 %82 to i64
  %84 = getelementptr float, ptr addrspace(1) %0, i64 %83
  %85 = load float, ptr addrspace(1) %84, align 4
  %86 = getelementptr i8, ptr addrspace(1) %84, i64 4
  %87 = load float, ptr addrspace(1) %86, align 4
  %88 = fmul contract float %85, %87
  %89 = fadd contract float %80, %88
  %epil.iter.next = add i32 %epil.iter, 1
  %epil.iter.cmp.not = icmp eq i32 %epil.iter.next, %xtraiter
  br i1 %epil.iter.cmp.not, label %b3, label %b2.epil, !llvm.loop !0

b3:                                               ; preds = %b3.loopexit.unr-lcssa, %b2.epil, %entry
  %.lcssa = phi float [ 0.000000e+00, %entry ], [ %.lcssa6, %b3.loopexit.unr-lcssa ], [ %89, %b2.epil ]
  %90 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %91 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %92 = mul i32 %90, %91
  %93 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %94 = add i32 %92, %93
  %95 = sext i32 %94 to i64
  %96 = getelementptr inbounds float, ptr addrspace(1) %3, i64 %95
  store float %.lcssa, ptr addrspace(1) %96, align 4
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
