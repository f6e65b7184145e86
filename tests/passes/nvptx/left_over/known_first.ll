; opt=3
; The second round of sixteen is asked for by the end, not by the larger of it and the next counter.
; Function Attrs: nounwind
define ptx_kernel void @warp_row_sums(ptr addrspace(1) align 4 %0, i32 range(i32 0, -2147483648) %1, i32 range(i32 0, -2147483648) %2, ptr addrspace(1) align 4 %3) #0 {
entry:
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %6 = mul nuw nsw i32 %5, %4
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %8 = add nuw nsw i32 %6, %7
  %9 = lshr i32 %8, 5
  %.not = icmp samesign ult i32 %9, %1
  br i1 %.not, label %b1, label %b9

b1:                                               ; preds = %entry
  %10 = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %11 = icmp samesign ult i32 %10, %2
  br i1 %11, label %b3.lr.ph, label %b5.preheader

b3.lr.ph:                                         ; preds = %b1
  %12 = mul nuw nsw i32 %2, %9
  %13 = icmp samesign ult i32 %2, 33
  br i1 %13, label %33, label %39

b5.preheader:                                     ; preds = %33, %.preheader, %65, %.prol.loopexit, %b1
  %.lcssa1 = phi float [ 0.000000e+00, %b1 ], [ %48, %.preheader ], [ %38, %33 ], [ %.lcssa5.unr, %.prol.loopexit ], [ %101, %65 ]
  %14 = bitcast float %.lcssa1 to i32
  %15 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %14, i32 16, i32 31)
  %16 = bitcast i32 %15 to float
  %17 = fadd contract float %.lcssa1, %16
  %18 = bitcast float %17 to i32
  %19 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %18, i32 8, i32 31)
  %20 = bitcast i32 %19 to float
  %21 = fadd contract float %17, %20
  %22 = bitcast float %21 to i32
  %23 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %22, i32 4, i32 31)
  %24 = bitcast i32 %23 to float
  %25 = fadd contract float %21, %24
  %26 = bitcast float %25 to i32
  %27 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %26, i32 2, i32 31)
  %28 = bitcast i32 %27 to float
  %29 = fadd contract float %25, %28
  %30 = bitcast float %29 to i32
  %31 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %30, i32 1, i32 31)
  %32 = icmp eq i32 %10, 0
  br i1 %32, label %b8, label %b9

33:                                               ; preds = %b3.lr.ph
  %34 = add nuw nsw i32 %10, %12
  %35 = zext nneg i32 %34 to i64
  %36 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %35
  %37 = load float, ptr addrspace(1) %36, align 4
  %38 = fadd contract float %37, 0.000000e+00
  br label %b5.preheader

39:                                               ; preds = %b3.lr.ph
  %40 = icmp samesign ult i32 %2, 129
  br i1 %40, label %.preheader, label %50

.preheader:                                       ; preds = %39, %.preheader
  %41 = phi i32 [ %43, %.preheader ], [ %10, %39 ]
  %42 = phi float [ %48, %.preheader ], [ 0.000000e+00, %39 ]
  %43 = add nuw nsw i32 %41, 32
  %44 = add nuw nsw i32 %41, %12
  %45 = zext nneg i32 %44 to i64
  %46 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %45
  %47 = load float, ptr addrspace(1) %46, align 4
  %48 = fadd contract float %42, %47
  %49 = icmp samesign ult i32 %43, %2
  br i1 %49, label %.preheader, label %b5.preheader, !llvm.loop !0

50:                                               ; preds = %39
  %51 = xor i32 %10, -1
  %52 = add nsw i32 %2, %51
  %53 = lshr i32 %52, 5
  %54 = add nuw nsw i32 %53, 1
  %xtraiter = and i32 %54, 7
  %55 = and i32 %52, 224
  %lcmp.mod.not = icmp eq i32 %55, 224
  br i1 %lcmp.mod.not, label %.prol.loopexit, label %.prol.preheader

.prol.preheader:                                  ; preds = %50, %.prol.preheader
  %56 = phi i32 [ %58, %.prol.preheader ], [ %10, %50 ]
  %57 = phi float [ %63, %.prol.preheader ], [ 0.000000e+00, %50 ]
  %prol.iter = phi i32 [ %prol.iter.next, %.prol.preheader ], [ 0, %50 ]
  %58 = add nuw nsw i32 %56, 32
  %59 = add nuw nsw i32 %56, %12
  %60 = zext nneg i32 %59 to i64
  %61 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %60
  %62 = load float, ptr addrspace(1) %61, align 4
  %63 = fadd contract float %57, %62
  %prol.iter.next = add i32 %prol.iter, 1
  %prol.iter.cmp.not = icmp eq i32 %prol.iter.next, %xtraiter
  br i1 %prol.iter.cmp.not, label %.prol.loopexit, label %.prol.preheader, !llvm.loop !3

.prol.loopexit:                                   ; preds = %.prol.preheader, %50
  %.unr = phi i32 [ %10, %50 ], [ %58, %.prol.preheader ]
  %.unr6 = phi float [ 0.000000e+00, %50 ], [ %63, %.prol.preheader ]
  %.lcssa5.unr = phi float [ poison, %50 ], [ %63, %.prol.preheader ]
  %64 = icmp ult i32 %52, 224
  br i1 %64, label %b5.preheader, label %.new

.new:                                             ; preds = %.prol.loopexit
  %invariant.op = add nuw nsw i32 32, %12
  %invariant.op10 = add nuw nsw i32 64, %12
  %invariant.op12 = add nuw nsw i32 96, %12
  %invariant.op14 = add nuw nsw i32 128, %12
  %invariant.op16 = add nuw nsw i32 160, %12
  %invariant.op18 = add nuw nsw i32 192, %12
  %invariant.op20 = add nuw nsw i32 224, %12
  br label %65

65:                                               ; preds = %65, %.new
  %66 = phi i32 [ %.unr, %.new ], [ %97, %65 ]
  %67 = phi float [ %.unr6, %.new ], [ %101, %65 ]
  %68 = add nuw nsw i32 %66, %12
  %69 = zext nneg i32 %68 to i64
  %70 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %69
  %71 = load float, ptr addrspace(1) %70, align 4
  %72 = fadd contract float %67, %71
  %.reass = add nuw nsw i32 %66, %invariant.op
  %73 = zext nneg i32 %.reass to i64
  %74 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %73
  %75 = load float, ptr addrspace(1) %74, align 4
  %76 = fadd contract float %72, %75
  %.reass11 = add nuw nsw i32 %66, %invariant.op10
  %77 = zext nneg i32 %.reass11 to i64
  %78 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %77
  %79 = load float, ptr addrspace(1) %78, align 4
  %80 = fadd contract float %76, %79
  %.reass13 = add nuw nsw i32 %66, %invariant.op12
  %81 = zext nneg i32 %.reass13 to i64
  %82 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %81
  %83 = load float, ptr addrspace(1) %82, align 4
  %84 = fadd contract float %80, %83
  %.reass15 = add nuw nsw i32 %66, %invariant.op14
  %85 = zext nneg i32 %.reass15 to i64
  %86 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %85
  %87 = load float, ptr addrspace(1) %86, align 4
  %88 = fadd contract float %84, %87
  %.reass17 = add nuw nsw i32 %66, %invariant.op16
  %89 = zext nneg i32 %.reass17 to i64
  %90 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %89
  %91 = load float, ptr addrspace(1) %90, align 4
  %92 = fadd contract float %88, %91
  %.reass19 = add nuw nsw i32 %66, %invariant.op18
  %93 = zext nneg i32 %.reass19 to i64
  %94 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %93
  %95 = load float, ptr addrspace(1) %94, align 4
  %96 = fadd contract float %92, %95
  %97 = add nuw nsw i32 %66, 256
  %.reass21 = add nuw nsw i32 %66, %invariant.op20
  %98 = zext nneg i32 %.reass21 to i64
  %99 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %98
  %100 = load float, ptr addrspace(1) %99, align 4
  %101 = fadd contract float %96, %100
  %102 = icmp slt i32 %97, %2
  br i1 %102, label %65, label %b5.preheader, !llvm.loop !5

b8:                                               ; preds = %b5.preheader
  %103 = bitcast i32 %31 to float
  %104 = fadd contract float %29, %103
  %105 = zext nneg i32 %9 to i64
  %106 = getelementptr inbounds nuw float, ptr addrspace(1) %3, i64 %105
  store float %104, ptr addrspace(1) %106, align 4
  br label %b9

b9:                                               ; preds = %b8, %b5.preheader, %entry
  ret void
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 32) i32 @llvm.nvvm.read.ptx.sreg.laneid() #1

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.umin.i64(i64, i64) #2

; Function Attrs: convergent nocallback nounwind memory(inaccessiblemem: readwrite)
declare i32 @llvm.nvvm.shfl.sync.down.i32(i32, i32, i32, i32) #3

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #3 = { convergent nocallback nounwind memory(inaccessiblemem: readwrite) }

!0 = distinct !{!0, !1, !2}
!1 = !{!"llvm.loop.unroll.disable"}
!2 = !{!"pyptx.rest", i32 4}
!3 = distinct !{!3, !1, !4}
!4 = !{!"pyptx.rest", i32 7}
!5 = distinct !{!5, !1, !6}
!6 = !{!"pyptx.unrolled", i32 8}
