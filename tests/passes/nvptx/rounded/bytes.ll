; opt=3
define ptx_kernel void @q(ptr addrspace(1) align 4 %0, i32 range(i32 0, -2147483648) %1, ptr addrspace(1) align 1 %2, i32 range(i32 0, -2147483648) %3) #0 {
entry:
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %6 = mul nuw nsw i32 %5, %4
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %8 = add nuw nsw i32 %6, %7
  %9 = icmp samesign ult i32 %8, %1
  br i1 %9, label %b1, label %b2

b1:                                               ; preds = %entry
  %10 = zext nneg i32 %8 to i64
  %11 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %10
  %12 = load float, ptr addrspace(1) %11, align 4
  %13 = fmul contract float %12, 2.550000e+02
  %14 = call i64 @llvm.nvvm.f2ll.rz(float %13)
  %15 = fcmp uno float %13, 0.000000e+00
  %16 = call i64 @llvm.smax.i64(i64 %14, i64 0)
  %17 = call i64 @llvm.umin.i64(i64 %16, i64 255)
  %18 = trunc nuw i64 %17 to i8
  %19 = select i1 %15, i8 0, i8 %18
  %20 = getelementptr inbounds nuw i8, ptr addrspace(1) %2, i64 %10
  store i8 %19, ptr addrspace(1) %20, align 1
  %21 = load float, ptr addrspace(1) %11, align 4
  %22 = call i64 @llvm.nvvm.f2ll.rz(float %21)
  %23 = fcmp uno float %21, 0.000000e+00
  %24 = call i64 @llvm.smin.i64(i64 %22, i64 255)
  %25 = trunc i64 %24 to i8
  %26 = select i1 %23, i8 0, i8 %25
  %27 = add nuw nsw i32 %3, %8
  %28 = zext nneg i32 %27 to i64
  %29 = getelementptr inbounds nuw i8, ptr addrspace(1) %2, i64 %28
  store i8 %26, ptr addrspace(1) %29, align 1
  br label %b2

b2:                                               ; preds = %b1, %entry
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
declare i64 @llvm.smax.i64(i64, i64) #2

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.umin.i64(i64, i64) #2

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.smin.i64(i64, i64) #2

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
