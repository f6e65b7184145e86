; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 8 %out, double %x, double %y) #0 {
entry:
  %size = call double @llvm.nvvm.fabs.f64(double %x)
  %infinite = fcmp oeq double %size, 0x7FF0000000000000
  br i1 %infinite, label %beyond, label %within

beyond:                                           ; preds = %entry
  %nan = call double @llvm.nvvm.mul.rn.d(double %x, double 0.000000e+00)
  br label %join

within:                                           ; preds = %entry
  %zero = call double @llvm.nvvm.mul.rn.d(double %x, double 0.000000e+00)
  br label %join

join:                                             ; preds = %within, %beyond
  %z = phi double [ %nan, %beyond ], [ %zero, %within ]
  %size.y = call double @llvm.fabs.f64(double %y)
  %finite = fcmp une double %size.y, 0x7FF0000000000000
  br i1 %finite, label %done, label %last

last:                                             ; preds = %join
  %nan.y = call double @llvm.nvvm.mul.rn.d(double %y, double 0.000000e+00)
  %other = call double @llvm.nvvm.mul.rn.d(double %x, double 0.000000e+00)
  %sum = fadd double %nan.y, %other
  br label %done

done:                                             ; preds = %last, %join
  %r = phi double [ %z, %join ], [ %sum, %last ]
  store double %r, ptr addrspace(1) %out, align 8
  ret void
}

declare double @llvm.nvvm.fabs.f64(double)

declare double @llvm.fabs.f64(double)

declare double @llvm.nvvm.mul.rn.d(double, double)

attributes #0 = { nounwind }
