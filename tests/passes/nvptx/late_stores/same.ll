; opt=3
; One of the stores is to the array that is read, and stays; so does what would pass it.
define ptx_kernel void @k(ptr addrspace(1) noalias align 4 %0, i32 noundef range(i32 0, -2147483648) %1, ptr addrspace(1) noalias align 4 %2) #0 {
entry:
  %3 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %5 = mul nuw nsw i32 %4, %3
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %7 = add nuw nsw i32 %5, %6
  %.not = icmp eq i32 %1, 0
  br i1 %.not, label %b3, label %b2.preheader

b2.preheader:                                     ; preds = %entry
  %xtraiter = and i32 %1, 7
  %8 = icmp samesign ult i32 %1, 8
  br i1 %8, label %b2.epil.preheader, label %b2.preheader.new

b2.preheader.new:                                 ; preds = %b2.preheader
  %unroll_iter = and i32 %1, 2147483640
  br label %b2

b2:                                               ; preds = %b2, %b2.preheader.new
  %9 = phi i32 [ 0, %b2.preheader.new ], [ %88, %b2 ]
  %10 = phi i32 [ %7, %b2.preheader.new ], [ %94, %b2 ]
  %niter = phi i32 [ 0, %b2.preheader.new ], [ %niter.next.7, %b2 ]
  %11 = or disjoint i32 %9, 1
  %12 = and i32 %10, 1023
  %13 = sext i32 %12 to i64
  %14 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %13
  %15 = load i32, ptr addrspace(1) %14, align 4
  %16 = and i32 %15, 31
  %17 = add i32 %16, %10
  %18 = add i32 %15, %9
  %19 = sext i32 %9 to i64
  %20 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %19
  store i32 %18, ptr addrspace(1) %20, align 4
  %21 = getelementptr inbounds nuw i32, ptr addrspace(1) %2, i64 %19
  store i32 %15, ptr addrspace(1) %21, align 4
  %22 = or disjoint i32 %9, 2
  %23 = and i32 %17, 1023
  %24 = sext i32 %23 to i64
  %25 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %24
  %26 = load i32, ptr addrspace(1) %25, align 4
  %27 = and i32 %26, 31
  %28 = add i32 %27, %17
  %29 = add i32 %26, %11
  %30 = sext i32 %11 to i64
  %31 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %30
  store i32 %29, ptr addrspace(1) %31, align 4
  %32 = getelementptr inbounds nuw i32, ptr addrspace(1) %2, i64 %30
  store i32 %26, ptr addrspace(1) %32, align 4
  %33 = or disjoint i32 %9, 3
  %34 = and i32 %28, 1023
  %35 = sext i32 %34 to i64
  %36 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %35
  %37 = load i32, ptr addrspace(1) %36, align 4
  %38 = and i32 %37, 31
  %39 = add i32 %38, %28
  %40 = add i32 %37, %22
  %41 = sext i32 %22 to i64
  %42 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %41
  store i32 %40, ptr addrspace(1) %42, align 4
  %43 = getelementptr inbounds nuw i32, ptr addrspace(1) %2, i64 %41
  store i32 %37, ptr addrspace(1) %43, align 4
  %44 = or disjoint i32 %9, 4
  %45 = and i32 %39, 1023
  %46 = sext i32 %45 to i64
  %47 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %46
  %48 = load i32, ptr addrspace(1) %47, align 4
  %49 = and i32 %48, 31
  %50 = add i32 %49, %39
  %51 = add i32 %48, %33
  %52 = sext i32 %33 to i64
  %53 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %52
  store i32 %51, ptr addrspace(1) %53, align 4
  %54 = getelementptr inbounds nuw i32, ptr addrspace(1) %2, i64 %52
  store i32 %48, ptr addrspace(1) %54, align 4
  %55 = or disjoint i32 %9, 5
  %56 = and i32 %50, 1023
  %57 = sext i32 %56 to i64
  %58 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %57
  %59 = load i32, ptr addrspace(1) %58, align 4
  %60 = and i32 %59, 31
  %61 = add i32 %60, %50
  %62 = add i32 %59, %44
  %63 = sext i32 %44 to i64
  %64 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %63
  store i32 %62, ptr addrspace(1) %64, align 4
  %65 = getelementptr inbounds nuw i32, ptr addrspace(1) %2, i64 %63
  store i32 %59, ptr addrspace(1) %65, align 4
  %66 = or disjoint i32 %9, 6
  %67 = and i32 %61, 1023
  %68 = sext i32 %67 to i64
  %69 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %68
  %70 = load i32, ptr addrspace(1) %69, align 4
  %71 = and i32 %70, 31
  %72 = add i32 %71, %61
  %73 = add i32 %70, %55
  %74 = sext i32 %55 to i64
  %75 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %74
  store i32 %73, ptr addrspace(1) %75, align 4
  %76 = getelementptr inbounds nuw i32, ptr addrspace(1) %2, i64 %74
  store i32 %70, ptr addrspace(1) %76, align 4
  %77 = or disjoint i32 %9, 7
  %78 = and i32 %72, 1023
  %79 = sext i32 %78 to i64
  %80 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %79
  %81 = load i32, ptr addrspace(1) %80, align 4
  %82 = and i32 %81, 31
  %83 = add i32 %82, %72
  %84 = add i32 %81, %66
  %85 = sext i32 %66 to i64
  %86 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %85
  store i32 %84, ptr addrspace(1) %86, align 4
  %87 = getelementptr inbounds nuw i32, ptr addrspace(1) %2, i64 %85
  store i32 %81, ptr addrspace(1) %87, align 4
  %88 = add nuw nsw i32 %9, 8
  %89 = and i32 %83, 1023
  %90 = sext i32 %89 to i64
  %91 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %90
  %92 = load i32, ptr addrspace(1) %91, align 4
  %93 = and i32 %92, 31
  %94 = add i32 %93, %83
  %95 = add i32 %92, %77
  %96 = sext i32 %77 to i64
  %97 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %96
  store i32 %95, ptr addrspace(1) %97, align 4
  %98 = getelementptr inbounds nuw i32, ptr addrspace(1) %2, i64 %96
  store i32 %92, ptr addrspace(1) %98, align 4
  %niter.next.7 = add i32 %niter, 8
  %niter.ncmp.7.not = icmp eq i32 %niter.next.7, %unroll_iter
  br i1 %niter.ncmp.7.not, label %b3.loopexit.unr-lcssa, label %b2, !llvm.loop !0

b3.loopexit.unr-lcssa:                            ; preds = %b2
  %.lcssa4 = phi i32 [ %88, %b2 ]
  %.lcssa = phi i32 [ %94, %b2 ]
  %lcmp.mod.not = icmp eq i32 %xtraiter, 0
  br i1 %lcmp.mod.not, label %b3, label %b2.epil.preheader

b2.epil.preheader:                                ; preds = %b3.loopexit.unr-lcssa, %b2.preheader
  %.epil.init = phi i32 [ 0, %b2.preheader ], [ %.lcssa4, %b3.loopexit.unr-lcssa ]
  %.epil.init2 = phi i32 [ %7, %b2.preheader ], [ %.lcssa, %b3.loopexit.unr-lcssa ]
  %lcmp.mod3 = icmp ne i32 %xtraiter, 0
  call void @llvm.assume(i1 %lcmp.mod3)
  br label %b2.epil

b2.epil:                                          ; preds = %b2.epil, %b2.epil.preheader
  %99 = phi i32 [ %101, %b2.epil ], [ %.epil.init, %b2.epil.preheader ]
  %100 = phi i32 [ %107, %b2.epil ], [ %.epil.init2, %b2.epil.preheader ]
  %epil.iter = phi i32 [ %epil.iter.next, %b2.epil ], [ 0, %b2.epil.preheader ]
  %101 = add nuw nsw i32 %99, 1
  %102 = and i32 %100, 1023
  %103 = sext i32 %102 to i64
  %104 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %103
  %105 = load i32, ptr addrspace(1) %104, align 4
  %106 = and i32 %105, 31
  %107 = add i32 %106, %100
  %108 = add i32 %105, %99
  %109 = sext i32 %99 to i64
  %110 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %109
  store i32 %108, ptr addrspace(1) %110, align 4
  %111 = getelementptr inbounds nuw i32, ptr addrspace(1) %2, i64 %109
  store i32 %105, ptr addrspace(1) %111, align 4
  %epil.iter.next = add i32 %epil.iter, 1
  %epil.iter.cmp.not = icmp eq i32 %epil.iter.next, %xtraiter
  br i1 %epil.iter.cmp.not, label %b3, label %b2.epil, !llvm.loop !3

b3:                                               ; preds = %b3.loopexit.unr-lcssa, %b2.epil, %entry
  ret void
}

declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #1

declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

declare void @llvm.assume(i1 noundef) #2

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { nocallback nofree nosync nounwind willreturn memory(inaccessiblemem: write) }

!0 = distinct !{!0, !1, !2}
!1 = !{!"llvm.loop.unroll.disable"}
!2 = !{!"pyptx.unrolled", i32 8}
!3 = distinct !{!3, !1, !4}
!4 = !{!"pyptx.rest", i32 7}
