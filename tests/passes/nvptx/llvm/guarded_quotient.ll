; opt=3 before=keep_guards
define ptx_kernel void @k(ptr addrspace(1) align 8 %0, ptr addrspace(1) align 8 %1) #0 {
entry:
  br label %b0

b0:                                               ; preds = %entry
  %2 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %3 = zext nneg i32 %2 to i64
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %5 = zext nneg i32 %4 to i64
  %6 = mul nsw i64 %5, %3
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %8 = zext nneg i32 %7 to i64
  %9 = add nsw i64 %6, %8
  %10 = trunc i64 %9 to i32
  %11 = sext i32 %10 to i64
  %12 = getelementptr inbounds double, ptr addrspace(1) %0, i64 %11
  %13 = load double, ptr addrspace(1) %12, align 8
  %14 = fcmp ogt double %13, 0.000000e+00
  br i1 %14, label %b1, label %b3

b1:                                               ; preds = %b0
  %15 = fdiv contract double 1.000000e+00, %13
  %16 = fcmp olt double %15, 3.000000e+00
  br i1 %16, label %b2, label %b3

b2:                                               ; preds = %b1
  br label %b3

b3:                                               ; preds = %b2, %b1, %b0
  %17 = phi double [ 0.000000e+00, %b0 ], [ 0.000000e+00, %b1 ], [ 2.000000e+00, %b2 ]
  %18 = trunc i64 %9 to i32
  %19 = sext i32 %18 to i64
  %20 = getelementptr inbounds double, ptr addrspace(1) %1, i64 %19
  store double %17, ptr addrspace(1) %20, align 8
  ret void
}

declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #1

declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
