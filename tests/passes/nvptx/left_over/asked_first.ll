; opt=3
; That there is a first round is known behind the question for it, not in front.
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
  %23 = xor i32 %3, -1
  %24 = add nsw i32 %1, %23
  %25 = lshr i32 %24, 5
  %26 = add nuw nsw i32 %25, 1
  %xtraiter = and i32 %26, 7
  %27 = and i32 %24, 224
  %lcmp.mod.not = icmp eq i32 %27, 224
  br i1 %lcmp.mod.not, label %.prol.loopexit, label %.prol.preheader

.prol.preheader:                                  ; preds = %22, %.prol.preheader
  %28 = phi i32 [ %30, %.prol.preheader ], [ %3, %22 ]
  %29 = phi float [ %34, %.prol.preheader ], [ 0.000000e+00, %22 ]
  %prol.iter = phi i32 [ %prol.iter.next, %.prol.preheader ], [ 0, %22 ]
  %30 = add nuw nsw i32 %28, 32
  %31 = zext nneg i32 %28 to i64
  %32 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %31
  %33 = load float, ptr addrspace(1) %32, align 4
  %34 = fadd contract float %29, %33
  %prol.iter.next = add i32 %prol.iter, 1
  %prol.iter.cmp.not = icmp eq i32 %prol.iter.next, %xtraiter
  br i1 %prol.iter.cmp.not, label %.prol.loopexit, label %.prol.preheader, !llvm.loop !3

.prol.loopexit:                                   ; preds = %.prol.preheader, %22
  %.unr = phi i32 [ %3, %22 ], [ %30, %.prol.preheader ]
  %.unr5 = phi float [ 0.000000e+00, %22 ], [ %34, %.prol.preheader ]
  %.lcssa4.unr = phi float [ poison, %22 ], [ %34, %.prol.preheader ]
  %35 = icmp ult i32 %24, 224
  br i1 %35, label %b3, label %.new

.new:                                             ; preds = %.prol.loopexit, %.new
  %36 = phi i32 [ %62, %.new ], [ %.unr, %.prol.loopexit ]
  %37 = phi float [ %65, %.new ], [ %.unr5, %.prol.loopexit ]
  %38 = zext nneg i32 %36 to i64
  %39 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %38
  %40 = load float, ptr addrspace(1) %39, align 4
  %41 = fadd contract float %37, %40
  %42 = sext i32 %36 to i64
  %43 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %42
  %44 = getelementptr inbounds nuw i8, ptr addrspace(1) %43, i64 128
  %45 = load float, ptr addrspace(1) %44, align 4
  %46 = fadd contract float %41, %45
  %47 = getelementptr inbounds nuw i8, ptr addrspace(1) %43, i64 256
  %48 = load float, ptr addrspace(1) %47, align 4
  %49 = fadd contract float %46, %48
  %50 = getelementptr inbounds nuw i8, ptr addrspace(1) %43, i64 384
  %51 = load float, ptr addrspace(1) %50, align 4
  %52 = fadd contract float %49, %51
  %53 = getelementptr inbounds nuw i8, ptr addrspace(1) %43, i64 512
  %54 = load float, ptr addrspace(1) %53, align 4
  %55 = fadd contract float %52, %54
  %56 = getelementptr inbounds nuw i8, ptr addrspace(1) %43, i64 640
  %57 = load float, ptr addrspace(1) %56, align 4
  %58 = fadd contract float %55, %57
  %59 = getelementptr inbounds nuw i8, ptr addrspace(1) %43, i64 768
  %60 = load float, ptr addrspace(1) %59, align 4
  %61 = fadd contract float %58, %60
  %62 = add nuw nsw i32 %36, 256
  %63 = getelementptr inbounds nuw i8, ptr addrspace(1) %43, i64 896
  %64 = load float, ptr addrspace(1) %63, align 4
  %65 = fadd contract float %61, %64
  %66 = icmp slt i32 %62, %1
  br i1 %66, label %.new, label %b3, !llvm.loop !5

b3:                                               ; preds = %7, %.preheader, %.new, %.prol.loopexit, %entry
  %.lcssa = phi float [ 0.000000e+00, %entry ], [ %20, %.preheader ], [ %11, %7 ], [ %.lcssa4.unr, %.prol.loopexit ], [ %65, %.new ]
  %67 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %68 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %69 = mul nuw nsw i32 %68, %67
  %70 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %71 = add nuw nsw i32 %69, %70
  %72 = zext nneg i32 %71 to i64
  %73 = getelementptr inbounds nuw float, ptr addrspace(1) %2, i64 %72
  store float %.lcssa, ptr addrspace(1) %73, align 4
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
!4 = !{!"pyptx.rest", i32 7}
!5 = distinct !{!5, !1, !6}
!6 = !{!"pyptx.unrolled", i32 8}
