; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, i32 %n, ptr addrspace(1) align 4 %out) #0 {
entry:
  %some = icmp ne i32 %n, 0
  %0 = sub i32 %n, 0
  br i1 %some, label %1, label %end

1:                                                ; preds = %entry
  %2 = phi i32 [ 0, %entry ]
  %3 = phi i32 [ 5, %entry ]
  %4 = phi float [ 0.000000e+00, %entry ]
  %5 = phi i32 [ %0, %entry ]
  %6 = icmp ugt i32 %5, 1
  %7 = icmp ugt i32 %5, 2
  %8 = sext i32 %3 to i64
  %9 = getelementptr inbounds float, ptr addrspace(1) %x, i64 %8
  %10 = add nsw i32 %3, 32
  %11 = add i32 %2, 1
  %12 = sext i32 %10 to i64
  %13 = getelementptr inbounds float, ptr addrspace(1) %x, i64 %12
  %14 = add nsw i32 %10, 32
  %15 = add i32 %11, 1
  %16 = sext i32 %14 to i64
  %17 = getelementptr inbounds float, ptr addrspace(1) %x, i64 %16
  %18 = add nsw i32 %14, 32
  %19 = add i32 %15, 1
  %20 = load float, ptr addrspace(1) %9, align 4
  br i1 %6, label %21, label %23

21:                                               ; preds = %1
  %22 = load float, ptr addrspace(1) %13, align 4
  br label %23

23:                                               ; preds = %21, %1
  %24 = phi float [ %22, %21 ], [ poison, %1 ]
  br i1 %7, label %25, label %27

25:                                               ; preds = %23
  %26 = load float, ptr addrspace(1) %17, align 4
  br label %27

27:                                               ; preds = %25, %23
  %28 = phi float [ %26, %25 ], [ poison, %23 ]
  %29 = fadd contract float %4, %20
  %30 = fadd contract float %29, %24
  %31 = select i1 %6, float %30, float %29
  %32 = fadd contract float %31, %28
  %33 = select i1 %7, float %32, float %31
  br label %rest

rest:                                             ; preds = %27
  br label %end

end:                                              ; preds = %rest, %entry
  %all = phi float [ 0.000000e+00, %entry ], [ %33, %rest ]
  store float %all, ptr addrspace(1) %out, align 4
  ret void
}

attributes #0 = { nounwind }
