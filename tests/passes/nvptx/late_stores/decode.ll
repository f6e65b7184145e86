; opt=3
; Where the next iteration reads is made of what this one has read: its store goes behind those loads, past branches.
define ptx_kernel void @k(ptr addrspace(1) noalias align 4 %0, ptr addrspace(1) noalias align 4 %1, i32 noundef range(i32 0, -2147483648) %2, i32 noundef range(i32 0, -2147483648) %3) #0 {
entry:
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %6 = mul nuw nsw i32 %5, %4
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %8 = add nuw nsw i32 %6, %7
  %.not = icmp samesign ult i32 %8, %2
  %9 = icmp ne i32 %3, 0
  %or.cond = and i1 %.not, %9
  br i1 %or.cond, label %b3.lr.ph, label %b6

b3.lr.ph:                                         ; preds = %entry
  %10 = mul nuw nsw i32 %3, %8
  %xtraiter = and i32 %3, 3
  %11 = icmp samesign ult i32 %3, 4
  br i1 %11, label %b3.epil.preheader, label %b3.lr.ph.new

b3.lr.ph.new:                                     ; preds = %b3.lr.ph
  %unroll_iter = and i32 %3, 2147483644
  br label %b3

b3:                                               ; preds = %b5.3, %b3.lr.ph.new
  %12 = phi i32 [ 0, %b3.lr.ph.new ], [ %71, %b5.3 ]
  %13 = phi i32 [ 0, %b3.lr.ph.new ], [ %77, %b5.3 ]
  %niter = phi i32 [ 0, %b3.lr.ph.new ], [ %niter.next.3, %b5.3 ]
  %14 = or disjoint i32 %12, 1
  %15 = and i32 %13, 1023
  %16 = sext i32 %15 to i64
  %17 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %16
  %18 = load i32, ptr addrspace(1) %17, align 4
  %19 = and i32 %18, 31
  %20 = add i32 %19, %13
  %21 = icmp sgt i32 %18, 100
  br i1 %21, label %b4, label %b5

b4:                                               ; preds = %b3
  %22 = add i32 %20, 1
  %23 = and i32 %22, 1023
  %24 = sext i32 %23 to i64
  %25 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %24
  %26 = load i32, ptr addrspace(1) %25, align 4
  %27 = add i32 %26, %18
  br label %b5

b5:                                               ; preds = %b4, %b3
  %28 = phi i32 [ %18, %b3 ], [ %27, %b4 ]
  %29 = mul i32 %28, 3
  %30 = add nuw nsw i32 %12, %10
  %31 = sext i32 %30 to i64
  %32 = getelementptr inbounds nuw i32, ptr addrspace(1) %1, i64 %31
  store i32 %29, ptr addrspace(1) %32, align 4
  %33 = or disjoint i32 %12, 2
  %34 = and i32 %20, 1023
  %35 = sext i32 %34 to i64
  %36 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %35
  %37 = load i32, ptr addrspace(1) %36, align 4
  %38 = and i32 %37, 31
  %39 = add i32 %38, %20
  %40 = icmp sgt i32 %37, 100
  br i1 %40, label %b4.1, label %b5.1

b4.1:                                             ; preds = %b5
  %41 = add i32 %39, 1
  %42 = and i32 %41, 1023
  %43 = sext i32 %42 to i64
  %44 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %43
  %45 = load i32, ptr addrspace(1) %44, align 4
  %46 = add i32 %45, %37
  br label %b5.1

b5.1:                                             ; preds = %b4.1, %b5
  %47 = phi i32 [ %37, %b5 ], [ %46, %b4.1 ]
  %48 = mul i32 %47, 3
  %49 = add nuw nsw i32 %14, %10
  %50 = sext i32 %49 to i64
  %51 = getelementptr inbounds nuw i32, ptr addrspace(1) %1, i64 %50
  store i32 %48, ptr addrspace(1) %51, align 4
  %52 = or disjoint i32 %12, 3
  %53 = and i32 %39, 1023
  %54 = sext i32 %53 to i64
  %55 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %54
  %56 = load i32, ptr addrspace(1) %55, align 4
  %57 = and i32 %56, 31
  %58 = add i32 %57, %39
  %59 = icmp sgt i32 %56, 100
  br i1 %59, label %b4.2, label %b5.2

b4.2:                                             ; preds = %b5.1
  %60 = add i32 %58, 1
  %61 = and i32 %60, 1023
  %62 = sext i32 %61 to i64
  %63 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %62
  %64 = load i32, ptr addrspace(1) %63, align 4
  %65 = add i32 %64, %56
  br label %b5.2

b5.2:                                             ; preds = %b4.2, %b5.1
  %66 = phi i32 [ %56, %b5.1 ], [ %65, %b4.2 ]
  %67 = mul i32 %66, 3
  %68 = add nuw nsw i32 %33, %10
  %69 = sext i32 %68 to i64
  %70 = getelementptr inbounds nuw i32, ptr addrspace(1) %1, i64 %69
  store i32 %67, ptr addrspace(1) %70, align 4
  %71 = add nuw nsw i32 %12, 4
  %72 = and i32 %58, 1023
  %73 = sext i32 %72 to i64
  %74 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %73
  %75 = load i32, ptr addrspace(1) %74, align 4
  %76 = and i32 %75, 31
  %77 = add i32 %76, %58
  %78 = icmp sgt i32 %75, 100
  br i1 %78, label %b4.3, label %b5.3

b4.3:                                             ; preds = %b5.2
  %79 = add i32 %77, 1
  %80 = and i32 %79, 1023
  %81 = sext i32 %80 to i64
  %82 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %81
  %83 = load i32, ptr addrspace(1) %82, align 4
  %84 = add i32 %83, %75
  br label %b5.3

b5.3:                                             ; preds = %b4.3, %b5.2
  %85 = phi i32 [ %75, %b5.2 ], [ %84, %b4.3 ]
  %86 = mul i32 %85, 3
  %87 = add nuw nsw i32 %52, %10
  %88 = sext i32 %87 to i64
  %89 = getelementptr inbounds nuw i32, ptr addrspace(1) %1, i64 %88
  store i32 %86, ptr addrspace(1) %89, align 4
  %niter.next.3 = add i32 %niter, 4
  %niter.ncmp.3.not = icmp eq i32 %niter.next.3, %unroll_iter
  br i1 %niter.ncmp.3.not, label %b6.loopexit.unr-lcssa, label %b3, !llvm.loop !0

b6.loopexit.unr-lcssa:                            ; preds = %b5.3
  %.lcssa7 = phi i32 [ %71, %b5.3 ]
  %.lcssa = phi i32 [ %77, %b5.3 ]
  %lcmp.mod.not = icmp eq i32 %xtraiter, 0
  br i1 %lcmp.mod.not, label %b6, label %b3.epil.preheader

b3.epil.preheader:                                ; preds = %b6.loopexit.unr-lcssa, %b3.lr.ph
  %.epil.init = phi i32 [ 0, %b3.lr.ph ], [ %.lcssa7, %b6.loopexit.unr-lcssa ]
  %.epil.init5 = phi i32 [ 0, %b3.lr.ph ], [ %.lcssa, %b6.loopexit.unr-lcssa ]
  %lcmp.mod6 = icmp ne i32 %xtraiter, 0
  call void @llvm.assume(i1 %lcmp.mod6)
  %90 = add i32 %.epil.init, %10
  br label %b3.epil

b3.epil:                                          ; preds = %b5.epil, %b3.epil.preheader
  %91 = phi i32 [ %90, %b3.epil.preheader ], [ %93, %b5.epil ]
  %92 = phi i32 [ %.epil.init5, %b3.epil.preheader ], [ %99, %b5.epil ]
  %epil.iter = phi i32 [ 0, %b3.epil.preheader ], [ %epil.iter.next, %b5.epil ]
  %93 = add i32 %91, 1
  %94 = and i32 %92, 1023
  %95 = sext i32 %94 to i64
  %96 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %95
  %97 = load i32, ptr addrspace(1) %96, align 4
  %98 = and i32 %97, 31
  %99 = add i32 %98, %92
  %100 = icmp sgt i32 %97, 100
  br i1 %100, label %b4.epil, label %b5.epil

b4.epil:                                          ; preds = %b3.epil
  %101 = add i32 %99, 1
  %102 = and i32 %101, 1023
  %103 = sext i32 %102 to i64
  %104 = getelementptr inbounds nuw i32, ptr addrspace(1) %0, i64 %103
  %105 = load i32, ptr addrspace(1) %104, align 4
  %106 = add i32 %105, %97
  br label %b5.epil

b5.epil:                                          ; preds = %b4.epil, %b3.epil
  %107 = phi i32 [ %97, %b3.epil ], [ %106, %b4.epil ]
  %108 = mul i32 %107, 3
  %109 = sext i32 %91 to i64
  %110 = getelementptr inbounds nuw i32, ptr addrspace(1) %1, i64 %109
  store i32 %108, ptr addrspace(1) %110, align 4
  %epil.iter.next = add i32 %epil.iter, 1
  %epil.iter.cmp.not = icmp eq i32 %epil.iter.next, %xtraiter
  br i1 %epil.iter.cmp.not, label %b6, label %b3.epil, !llvm.loop !3

b6:                                               ; preds = %b6.loopexit.unr-lcssa, %b5.epil, %entry
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
!2 = !{!"pyptx.unrolled", i32 4}
!3 = distinct !{!3, !1, !4}
!4 = !{!"pyptx.rest", i32 3}
