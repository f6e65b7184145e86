; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, i32 range(i32 0, -2147483648) %1, ptr addrspace(1) align 4 %2, ptr addrspace(1) align 4 %3) {
entry:
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %5 = zext nneg i32 %4 to i64
  %6 = getelementptr inbounds nuw float, ptr addrspace(1) %2, i64 %5
  %7 = load float, ptr addrspace(1) %6, align 4
  %8 = call contract float @llvm.floor.f32(float %7)
  %9 = call i64 @llvm.nvvm.f2ll.rz(float %8)
  %10 = fcmp uno float %8, 0.000000e+00
  %11 = select i1 %10, i64 0, i64 %9
  %12 = add nsw i32 %1, -1
  %13 = sext i32 %12 to i64
  %14 = add i64 %11, -1
  %15 = call i64 @llvm.smax.i64(i64 %14, i64 0)
  %16 = call i64 @llvm.smin.i64(i64 %15, i64 %13)
  %17 = icmp sgt i64 %16, 5
  br i1 %17, label %b3, label %b5

b3:                                               ; preds = %entry
  %18 = and i64 %16, 2147483647
  %19 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %18
  %20 = load float, ptr addrspace(1) %19, align 4
  %21 = sitofp i64 %14 to float
  %22 = fmul contract float %20, %21
  %23 = fadd contract float %22, 0.000000e+00
  br label %b5

b5:                                               ; preds = %b3, %entry
  %24 = phi float [ 0.000000e+00, %entry ], [ %23, %b3 ]
  %25 = call i64 @llvm.smax.i64(i64 %11, i64 0)
  %26 = call i64 @llvm.smin.i64(i64 %25, i64 %13)
  %27 = icmp sgt i64 %26, 5
  br i1 %27, label %b3.1, label %b5.1

b3.1:                                             ; preds = %b5
  %28 = and i64 %26, 2147483647
  %29 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %28
  %30 = load float, ptr addrspace(1) %29, align 4
  %31 = sitofp i64 %11 to float
  %32 = fmul contract float %30, %31
  %33 = fadd contract float %24, %32
  br label %b5.1

b5.1:                                             ; preds = %b3.1, %b5
  %34 = phi float [ %24, %b5 ], [ %33, %b3.1 ]
  %35 = add i64 %11, 1
  %36 = call i64 @llvm.smax.i64(i64 %35, i64 0)
  %37 = call i64 @llvm.smin.i64(i64 %36, i64 %13)
  %38 = icmp sgt i64 %37, 5
  br i1 %38, label %b3.2, label %b5.2

b3.2:                                             ; preds = %b5.1
  %39 = and i64 %37, 2147483647
  %40 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %39
  %41 = load float, ptr addrspace(1) %40, align 4
  %42 = sitofp i64 %35 to float
  %43 = fmul contract float %41, %42
  %44 = fadd contract float %34, %43
  br label %b5.2

b5.2:                                             ; preds = %b3.2, %b5.1
  %45 = phi float [ %34, %b5.1 ], [ %44, %b3.2 ]
  %46 = add i64 %11, 2
  %47 = call i64 @llvm.smax.i64(i64 %46, i64 0)
  %48 = call i64 @llvm.smin.i64(i64 %47, i64 %13)
  %49 = icmp sgt i64 %48, 5
  br i1 %49, label %b3.3, label %b5.3

b3.3:                                             ; preds = %b5.2
  %50 = and i64 %48, 2147483647
  %51 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %50
  %52 = load float, ptr addrspace(1) %51, align 4
  %53 = sitofp i64 %46 to float
  %54 = fmul contract float %52, %53
  %55 = fadd contract float %45, %54
  br label %b5.3

b5.3:                                             ; preds = %b3.3, %b5.2
  %56 = phi float [ %45, %b5.2 ], [ %55, %b3.3 ]
  %57 = getelementptr inbounds nuw float, ptr addrspace(1) %3, i64 %5
  store float %56, ptr addrspace(1) %57, align 4
  ret void
}
