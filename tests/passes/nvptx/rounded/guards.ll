; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, i32 range(i32 0, -2147483648) %1, ptr addrspace(1) align 4 %2, i32 range(i32 0, -2147483648) %3, float %4, ptr addrspace(1) align 4 %5, i32 range(i32 0, -2147483648) %6) #0 {
entry:
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %8 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %9 = mul nuw nsw i32 %8, %7
  %10 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %11 = add nuw nsw i32 %9, %10
  %12 = icmp samesign ult i32 %11, %3
  br i1 %12, label %b1, label %b7

b1:                                               ; preds = %entry
  %13 = zext nneg i32 %6 to i64
  %14 = zext nneg i32 %11 to i64
  %15 = getelementptr inbounds nuw float, ptr addrspace(1) %2, i64 %14
  %16 = load float, ptr addrspace(1) %15, align 4
  %17 = fmul contract float %4, %16
  %18 = call i64 @llvm.nvvm.f2ll.rz(float %17)
  %19 = fcmp uno float %17, 0.000000e+00
  %20 = select i1 %19, i64 0, i64 %18
  %21 = icmp sgt i64 %20, -1
  %22 = icmp slt i64 %20, %13
  %23 = select i1 %21, i1 %22, i1 false
  br i1 %23, label %b3, label %b4

b3:                                               ; preds = %b1
  %24 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %20
  %25 = load float, ptr addrspace(1) %24, align 4, !pyptx.in_range !0
  %26 = getelementptr inbounds nuw float, ptr addrspace(1) %5, i64 %20
  store float %25, ptr addrspace(1) %26, align 4, !pyptx.in_range !0
  %.pre = load float, ptr addrspace(1) %15, align 4
  br label %b4

b4:                                               ; preds = %b1, %b3
  %27 = phi float [ %16, %b1 ], [ %.pre, %b3 ]
  %28 = call contract float @llvm.floor.f32(float %27)
  %29 = call i64 @llvm.nvvm.f2ll.rz(float %28)
  %30 = fcmp uno float %28, 0.000000e+00
  %31 = select i1 %30, i64 0, i64 %29
  %32 = icmp slt i64 %31, 0
  %33 = add nsw i32 %1, -1
  %34 = sext i32 %33 to i64
  %35 = icmp sge i64 %31, %34
  %36 = select i1 %32, i1 true, i1 %35
  br i1 %36, label %b7, label %b6

b6:                                               ; preds = %b4
  %37 = uitofp nneg i64 %31 to float
  %38 = fsub contract float %27, %37
  %39 = shl nuw nsw i64 %31, 2
  %40 = getelementptr inbounds nuw i8, ptr addrspace(1) %5, i64 %39
  store float %38, ptr addrspace(1) %40, align 4, !pyptx.in_range !0
  br label %b7

b7:                                               ; preds = %b4, %b6, %entry
  ret void
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.nvvm.f2ll.rz(float) #1

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.floor.f32(float) #2

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }

!0 = !{}
