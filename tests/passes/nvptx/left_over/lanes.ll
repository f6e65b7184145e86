; opt=3
; Of four to eight iterations the first four need no mask.
; Function Attrs: nounwind
define ptx_kernel void @lane_sums(ptr addrspace(1) align 4 %0, i32 range(i32 0, -2147483648) %1, ptr addrspace(1) align 4 %2) #0 {
entry:
  %3 = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %4 = icmp samesign ult i32 %3, %1
  br i1 %4, label %5, label %b3

5:                                                ; preds = %entry
  %6 = icmp samesign ult i32 %1, 33
  br i1 %6, label %7, label %12

7:                                                ; preds = %5
  %8 = zext nneg i32 %3 to i64
  %9 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %8
  %10 = load float, ptr addrspace(1) %9, align 4
  %11 = fadd contract float %10, 0.000000e+00
  br label %b3

12:                                               ; preds = %5
  %13 = icmp samesign ult i32 %1, 129
  br i1 %13, label %.preheader, label %22

.preheader:                                       ; preds = %12, %.preheader
  %14 = phi i32 [ %16, %.preheader ], [ %3, %12 ]
  %15 = phi float [ %20, %.preheader ], [ 0.000000e+00, %12 ]
  %16 = add nuw nsw i32 %14, 32
  %17 = zext nneg i32 %14 to i64
  %18 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %17
  %19 = load float, ptr addrspace(1) %18, align 4
  %20 = fadd contract float %15, %19
  %21 = icmp samesign ult i32 %16, %1
  br i1 %21, label %.preheader, label %b3, !llvm.loop !0

22:                                               ; preds = %12
  %23 = add nsw i32 %1, -255
  %24 = add nsw i32 %23, %3
  %25 = icmp samesign ugt i32 %1, 255
  br i1 %25, label %.preheader8, label %.loopexit9

.preheader8:                                      ; preds = %22, %.preheader8
  %26 = phi i32 [ %52, %.preheader8 ], [ %3, %22 ]
  %27 = phi float [ %55, %.preheader8 ], [ 0.000000e+00, %22 ]
  %28 = zext nneg i32 %26 to i64
  %29 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %28
  %30 = load float, ptr addrspace(1) %29, align 4
  %31 = fadd contract float %27, %30
  %32 = sext i32 %26 to i64
  %33 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %32
  %34 = getelementptr inbounds nuw i8, ptr addrspace(1) %33, i64 128
  %35 = load float, ptr addrspace(1) %34, align 4
  %36 = fadd contract float %31, %35
  %37 = getelementptr inbounds nuw i8, ptr addrspace(1) %33, i64 256
  %38 = load float, ptr addrspace(1) %37, align 4
  %39 = fadd contract float %36, %38
  %40 = getelementptr inbounds nuw i8, ptr addrspace(1) %33, i64 384
  %41 = load float, ptr addrspace(1) %40, align 4
  %42 = fadd contract float %39, %41
  %43 = getelementptr inbounds nuw i8, ptr addrspace(1) %33, i64 512
  %44 = load float, ptr addrspace(1) %43, align 4
  %45 = fadd contract float %42, %44
  %46 = getelementptr inbounds nuw i8, ptr addrspace(1) %33, i64 640
  %47 = load float, ptr addrspace(1) %46, align 4
  %48 = fadd contract float %45, %47
  %49 = getelementptr inbounds nuw i8, ptr addrspace(1) %33, i64 768
  %50 = load float, ptr addrspace(1) %49, align 4
  %51 = fadd contract float %48, %50
  %52 = add nuw nsw i32 %26, 256
  %53 = getelementptr inbounds nuw i8, ptr addrspace(1) %29, i64 896
  %54 = load float, ptr addrspace(1) %53, align 4
  %55 = fadd contract float %51, %54
  %56 = icmp slt i32 %52, %24
  br i1 %56, label %.preheader8, label %.loopexit9, !llvm.loop !3

.loopexit9:                                       ; preds = %.preheader8, %22
  %57 = phi i32 [ %3, %22 ], [ %52, %.preheader8 ]
  %58 = phi float [ 0.000000e+00, %22 ], [ %55, %.preheader8 ]
  %59 = icmp slt i32 %57, %1
  br i1 %59, label %60, label %b3

60:                                               ; preds = %.loopexit9
  %61 = add nsw i32 %57, -128
  %62 = icmp slt i32 %61, %24
  br i1 %62, label %.preheader3, label %.preheader5

.preheader3:                                      ; preds = %60, %.preheader3
  %63 = phi i32 [ %65, %.preheader3 ], [ %57, %60 ]
  %64 = phi float [ %69, %.preheader3 ], [ %58, %60 ]
  %65 = add nuw nsw i32 %63, 32
  %66 = zext nneg i32 %63 to i64
  %67 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %66
  %68 = load float, ptr addrspace(1) %67, align 4
  %69 = fadd contract float %64, %68
  %70 = icmp slt i32 %65, %1
  br i1 %70, label %.preheader3, label %b3, !llvm.loop !5

.preheader5:                                      ; preds = %60, %.preheader5
  %71 = phi i32 [ %73, %.preheader5 ], [ %57, %60 ]
  %72 = phi float [ %77, %.preheader5 ], [ %58, %60 ]
  %73 = add nuw nsw i32 %71, 32
  %74 = zext nneg i32 %71 to i64
  %75 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %74
  %76 = load float, ptr addrspace(1) %75, align 4
  %77 = fadd contract float %72, %76
  %78 = icmp slt i32 %73, %1
  br i1 %78, label %.preheader5, label %b3, !llvm.loop !8

b3:                                               ; preds = %7, %.preheader5, %.preheader3, %.loopexit9, %.preheader, %entry
  %.lcssa = phi float [ 0.000000e+00, %entry ], [ %77, %.preheader5 ], [ %11, %7 ], [ %58, %.loopexit9 ], [ %69, %.preheader3 ], [ %20, %.preheader ]
  %79 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %80 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %81 = mul nuw nsw i32 %80, %79
  %82 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %83 = add nuw nsw i32 %81, %82
  %84 = zext nneg i32 %83 to i64
  %85 = getelementptr inbounds nuw float, ptr addrspace(1) %2, i64 %84
  store float %.lcssa, ptr addrspace(1) %85, align 4
  ret void
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 32) i32 @llvm.nvvm.read.ptx.sreg.laneid() #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }

!0 = distinct !{!0, !1, !2}
!1 = !{!"llvm.loop.unroll.disable"}
!2 = !{!"pyptx.rest", i32 4}
!3 = distinct !{!3, !1, !4}
!4 = !{!"pyptx.unrolled", i32 8}
!5 = distinct !{!5, !1, !6, !7}
!6 = !{!"pyptx.rest", i32 8}
!7 = !{!"pyptx.least", i32 4}
!8 = distinct !{!8, !1, !2}
