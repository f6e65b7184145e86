; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, i64 %1, ptr addrspace(1) align 4 %2) #0 {
entry:
  %3 = trunc i64 %1 to i32
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %5 = zext nneg i32 %4 to i64
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %7 = zext nneg i32 %6 to i64
  %8 = mul nuw nsw i64 %7, %5
  %9 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %10 = zext nneg i32 %9 to i64
  %11 = add nuw nsw i64 %8, %10
  %12 = call i32 @llvm.smax.i32(i32 %3, i32 0)
  %13 = zext nneg i32 %12 to i64
  %14 = icmp samesign ult i64 %11, %13
  %15 = mul i32 %6, %4
  %16 = add i32 %15, %9
  %17 = select i1 %14, i32 %16, i32 %12
  %18 = icmp slt i32 %17, %12
  br i1 %18, label %b2.lr.ph, label %b3

b2.lr.ph:                                         ; preds = %entry
  %19 = load i32, ptr addrspace(1) %0, align 4
  %20 = sub i32 %12, %17
  %xtraiter = and i32 %20, 7
  %21 = sub i32 %17, %12
  %22 = icmp ugt i32 %21, -8
  br i1 %22, label %b2.epil.preheader, label %b2.lr.ph.new

b2.lr.ph.new:                                     ; preds = %b2.lr.ph
  %unroll_iter = and i32 %20, -8
  br label %b2

b2:                                               ; preds = %b2, %b2.lr.ph.new
  %23 = phi i32 [ %17, %b2.lr.ph.new ], [ %73, %b2 ]
  %24 = phi i32 [ 0, %b2.lr.ph.new ], [ %80, %b2 ]
  %niter = phi i32 [ 0, %b2.lr.ph.new ], [ %niter.next.7, %b2 ]
  %25 = sext i32 %23 to i64
  %26 = getelementptr inbounds i32, ptr addrspace(1) %0, i64 %25
  %27 = load i32, ptr addrspace(1) %26, align 4
  %28 = icmp slt i32 %27, %19
  %29 = zext i1 %28 to i32
  %30 = add i32 %24, %29
  %31 = sext i32 %23 to i64
  %32 = getelementptr i32, ptr addrspace(1) %0, i64 %31
  %33 = getelementptr i8, ptr addrspace(1) %32, i64 4
  %34 = load i32, ptr addrspace(1) %33, align 4
  %35 = icmp slt i32 %34, %19
  %36 = zext i1 %35 to i32
  %37 = add i32 %30, %36
  %38 = sext i32 %23 to i64
  %39 = getelementptr i32, ptr addrspace(1) %0, i64 %38
  %40 = getelementptr i8, ptr addrspace(1) %39, i64 8
  %41 = load i32, ptr addrspace(1) %40, align 4
  %42 = icmp slt i32 %41, %19
  %43 = zext i1 %42 to i32
  %44 = add i32 %37, %43
  %45 = sext i32 %23 to i64
  %46 = getelementptr i32, ptr addrspace(1) %0, i64 %45
  %47 = getelementptr i8, ptr addrspace(1) %46, i64 12
  %48 = load i32, ptr addrspace(1) %47, align 4
  %49 = icmp slt i32 %48, %19
  %50 = zext i1 %49 to i32
  %51 = add i32 %44, %50
  %52 = sext i32 %23 to i64
  %53 = getelementptr i32, ptr addrspace(1) %0, i64 %52
  %54 = getelementptr i8, ptr addrspace(1) %53, i64 16
  %55 = load i32, ptr addrspace(1) %54, align 4
  %56 = icmp slt i32 %55, %19
  %57 = zext i1 %56 to i32
  %58 = add i32 %51, %57
  %59 = sext i32 %23 to i64
  %60 = getelementptr i32, ptr addrspace(1) %0, i64 %59
  %61 = getelementptr i8, ptr addrspace(1) %60, i64 20
  %62 = load i32, ptr addrspace(1) %61, align 4
  %63 = icmp slt i32 %62, %19
  %64 = zext i1 %63 to i32
  %65 = add i32 %58, %64
  %66 = sext i32 %23 to i64
  %67 = getelementptr i32, ptr addrspace(1) %0, i64 %66
  %68 = getelementptr i8, ptr addrspace(1) %67, i64 24
  %69 = load i32, ptr addrspace(1) %68, align 4
  %70 = icmp slt i32 %69, %19
  %71 = zext i1 %70 to i32
  %72 = add i32 %65, %71
  %73 = add nuw nsw i32 %23, 8
  %74 = sext i32 %23 to i64
  %75 = getelementptr i32, ptr addrspace(1) %0, i64 %74
  %76 = getelementptr i8, ptr addrspace(1) %75, i64 28
  %77 = load i32, ptr addrspace(1) %76, align 4
  %78 = icmp slt i32 %77, %19
  %79 = zext i1 %78 to i32
  %80 = add i32 %72, %79
  %niter.next.7 = add i32 %niter, 8
  %niter.ncmp.7.not = icmp eq i32 %niter.next.7, %unroll_iter
  br i1 %niter.ncmp.7.not, label %b3.loopexit.unr-lcssa, label %b2, !llvm.loop !0

b3.loopexit.unr-lcssa:                            ; preds = %b2
  %.lcssa8 = phi i32 [ %73, %b2 ]
  %.lcssa7 = phi i32 [ %80, %b2 ]
  %lcmp.mod.not = icmp eq i32 %xtraiter, 0
  br i1 %lcmp.mod.not, label %b3, label %b2.epil.preheader

b2.epil.preheader:                                ; preds = %b3.loopexit.unr-lcssa, %b2.lr.ph
  %.epil.init = phi i32 [ %17, %b2.lr.ph ], [ %.lcssa8, %b3.loopexit.unr-lcssa ]
  %.epil.init4 = phi i32 [ 0, %b2.lr.ph ], [ %.lcssa7, %b3.loopexit.unr-lcssa ]
  %lcmp.mod6 = icmp ne i32 %xtraiter, 0
  call void @llvm.assume(i1 %lcmp.mod6)
  br label %b2.epil

b2.epil:                                          ; preds = %b2.epil, %b2.epil.preheader
  %81 = phi i32 [ %.epil.init, %b2.epil.preheader ], [ %83, %b2.epil ]
  %82 = phi i32 [ %.epil.init4, %b2.epil.preheader ], [ %89, %b2.epil ]
  %epil.iter = phi i32 [ 0, %b2.epil.preheader ], [ %epil.iter.next, %b2.epil ]
  %83 = add nuw nsw i32 %81, 1
  %84 = sext i32 %81 to i64
  %85 = getelementptr inbounds i32, ptr addrspace(1) %0, i64 %84
  %86 = load i32, ptr addrspace(1) %85, align 4
  %87 = icmp slt i32 %86, %19
  %88 = zext i1 %87 to i32
  %89 = add i32 %82, %88
  %epil.iter.next = add i32 %epil.iter, 1
  %epil.iter.cmp.not = icmp eq i32 %epil.iter.next, %xtraiter
  br i1 %epil.iter.cmp.not, label %b3, label %b2.epil, !llvm.loop !3

b3:                                               ; preds = %b3.loopexit.unr-lcssa, %b2.epil, %entry
  %.lcssa = phi i32 [ 0, %entry ], [ %.lcssa7, %b3.loopexit.unr-lcssa ], [ %89, %b2.epil ]
  %sext = shl i64 %11, 32
  %90 = ashr exact i64 %sext, 30
  %91 = getelementptr inbounds i8, ptr addrspace(1) %2, i64 %90
  store i32 %.lcssa, ptr addrspace(1) %91, align 4
  ret void
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.smax.i32(i32, i32) #2

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(inaccessiblemem: write)
declare void @llvm.assume(i1 noundef) #3

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #3 = { nocallback nofree nosync nounwind willreturn memory(inaccessiblemem: write) }

!0 = distinct !{!0, !1, !2}
!1 = !{!"llvm.loop.unroll.disable"}
!2 = !{!"pyptx.unrolled", i32 8}
!3 = distinct !{!3, !1, !4}
!4 = !{!"pyptx.rest", i32 7}
