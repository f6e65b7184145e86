; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, ptr addrspace(1) align 4 %1, i32 range(i32 0, -2147483648) %2, ptr addrspace(1) align 4 %3) #0 {
entry:
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %6 = mul i32 %5, %4
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %8 = add i32 %6, %7
  %9 = sext i32 %8 to i64
  %10 = getelementptr inbounds i32, ptr addrspace(1) %0, i64 %9
  %11 = load i32, ptr addrspace(1) %10, align 4
  %12 = getelementptr i8, ptr addrspace(1) %10, i64 4
  %13 = load i32, ptr addrspace(1) %12, align 4
  %14 = icmp slt i32 %11, %13
  %15 = sub i32 %13, %11
  br i1 %14, label %16, label %b3

16:                                               ; preds = %entry, %b2
  %17 = phi i32 [ %11, %entry ], [ %62, %b2 ]
  %18 = phi float [ 0.000000e+00, %entry ], [ %110, %b2 ]
  %19 = phi i32 [ %15, %entry ], [ %111, %b2 ]
  %20 = icmp ugt i32 %19, 1
  %21 = icmp ugt i32 %19, 2
  %22 = icmp ugt i32 %19, 3
  %23 = icmp ugt i32 %19, 4
  %24 = icmp ugt i32 %19, 5
  %25 = icmp ugt i32 %19, 6
  %26 = icmp ugt i32 %19, 7
  %27 = add nsw i32 %17, 1
  %28 = add i32 %17, %2
  %29 = call i32 @llvm.umin.i32(i32 %17, i32 %28)
  %30 = sext i32 %29 to i64
  %31 = getelementptr inbounds float, ptr addrspace(1) %1, i64 %30
  %32 = add nsw i32 %27, 1
  %33 = add i32 %27, %2
  %34 = call i32 @llvm.umin.i32(i32 %27, i32 %33)
  %35 = sext i32 %34 to i64
  %36 = getelementptr inbounds float, ptr addrspace(1) %1, i64 %35
  %37 = add nsw i32 %32, 1
  %38 = add i32 %32, %2
  %39 = call i32 @llvm.umin.i32(i32 %32, i32 %38)
  %40 = sext i32 %39 to i64
  %41 = getelementptr inbounds float, ptr addrspace(1) %1, i64 %40
  %42 = add nsw i32 %37, 1
  %43 = add i32 %37, %2
  %44 = call i32 @llvm.umin.i32(i32 %37, i32 %43)
  %45 = sext i32 %44 to i64
  %46 = getelementptr inbounds float, ptr addrspace(1) %1, i64 %45
  %47 = add nsw i32 %42, 1
  %48 = add i32 %42, %2
  %49 = call i32 @llvm.umin.i32(i32 %42, i32 %48)
  %50 = sext i32 %49 to i64
  %51 = getelementptr inbounds float, ptr addrspace(1) %1, i64 %50
  %52 = add nsw i32 %47, 1
  %53 = add i32 %47, %2
  %54 = call i32 @llvm.umin.i32(i32 %47, i32 %53)
  %55 = sext i32 %54 to i64
  %56 = getelementptr inbounds float, ptr addrspace(1) %1, i64 %55
  %57 = add nsw i32 %52, 1
  %58 = add i32 %52, %2
  %59 = call i32 @llvm.umin.i32(i32 %52, i32 %58)
  %60 = sext i32 %59 to i64
  %61 = getelementptr inbounds float, ptr addrspace(1) %1, i64 %60
  %62 = add nsw i32 %57, 1
  %63 = add i32 %57, %2
  %64 = call i32 @llvm.umin.i32(i32 %57, i32 %63)
  %65 = sext i32 %64 to i64
  %66 = getelementptr inbounds float, ptr addrspace(1) %1, i64 %65
  %67 = load float, ptr addrspace(1) %31, align 4
  br i1 %20, label %68, label %70

68:                                               ; preds = %16
  %69 = load float, ptr addrspace(1) %36, align 4
  br label %70

70:                                               ; preds = %68, %16
  %71 = phi float [ %69, %68 ], [ poison, %16 ]
  br i1 %21, label %72, label %74

72:                                               ; preds = %70
  %73 = load float, ptr addrspace(1) %41, align 4
  br label %74

74:                                               ; preds = %72, %70
  %75 = phi float [ %73, %72 ], [ poison, %70 ]
  br i1 %22, label %76, label %78

76:                                               ; preds = %74
  %77 = load float, ptr addrspace(1) %46, align 4
  br label %78

78:                                               ; preds = %76, %74
  %79 = phi float [ %77, %76 ], [ poison, %74 ]
  br i1 %23, label %80, label %82

80:                                               ; preds = %78
  %81 = load float, ptr addrspace(1) %51, align 4
  br label %82

82:                                               ; preds = %80, %78
  %83 = phi float [ %81, %80 ], [ poison, %78 ]
  br i1 %24, label %84, label %86

84:                                               ; preds = %82
  %85 = load float, ptr addrspace(1) %56, align 4
  br label %86

86:                                               ; preds = %84, %82
  %87 = phi float [ %85, %84 ], [ poison, %82 ]
  br i1 %25, label %88, label %90

88:                                               ; preds = %86
  %89 = load float, ptr addrspace(1) %61, align 4
  br label %90

90:                                               ; preds = %88, %86
  %91 = phi float [ %89, %88 ], [ poison, %86 ]
  br i1 %26, label %92, label %94

92:                                               ; preds = %90
  %93 = load float, ptr addrspace(1) %66, align 4
  br label %94

94:                                               ; preds = %92, %90
  %95 = phi float [ %93, %92 ], [ poison, %90 ]
  %96 = fadd contract float %18, %67
  %97 = fadd contract float %96, %71
  %98 = select i1 %20, float %97, float %96
  %99 = fadd contract float %98, %75
  %100 = select i1 %21, float %99, float %98
  %101 = fadd contract float %100, %79
  %102 = select i1 %22, float %101, float %100
  %103 = fadd contract float %102, %83
  %104 = select i1 %23, float %103, float %102
  %105 = fadd contract float %104, %87
  %106 = select i1 %24, float %105, float %104
  %107 = fadd contract float %106, %91
  %108 = select i1 %25, float %107, float %106
  %109 = fadd contract float %108, %95
  %110 = select i1 %26, float %109, float %108
  %111 = sub i32 %19, 8
  %112 = icmp ugt i32 %19, 8
  br label %b2

b2:                                               ; preds = %94
  %113 = xor i1 %112, true
  br i1 %113, label %b3, label %16, !llvm.loop !0

b3:                                               ; preds = %b2, %entry
  %.lcssa = phi float [ 0.000000e+00, %entry ], [ %110, %b2 ]
  %114 = getelementptr inbounds float, ptr addrspace(1) %3, i64 %9
  store float %.lcssa, ptr addrspace(1) %114, align 4
  ret void
}

declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #1

declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

declare i32 @llvm.umin.i32(i32, i32) #2

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }

!0 = distinct !{!0, !1, !2}
!1 = !{!"llvm.loop.unroll.disable"}
!2 = !{!"done"}
