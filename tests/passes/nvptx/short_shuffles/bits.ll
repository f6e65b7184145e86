; opt=3
; A float32 that goes to another lane, and its bits, are one phi; a number that only begins like it has its own.
define ptx_kernel void @k(float %x, i32 %y, i1 %c, i1 %d, ptr addrspace(1) align 8 %out) #0 {
entry:
  %bits = bitcast float %x to i32
  br i1 %c, label %more, label %on

more:                                             ; preds = %entry
  %sum = fadd float %x, 1.000000e+00
  %b = bitcast float %sum to i32
  br label %on

on:                                               ; preds = %more, %entry
  %v = phi float [ %x, %entry ], [ %sum, %more ]
  %w = phi i32 [ %bits, %entry ], [ %b, %more ]
  %u = phi i32 [ %bits, %entry ], [ %y, %more ]
  %other = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %w, i32 2, i32 31)
  %f = bitcast i32 %other to float
  br i1 %d, label %again, label %end

again:                                            ; preds = %on
  %next = fadd float %v, %f
  %n = bitcast float %next to i32
  br label %end

end:                                              ; preds = %again, %on
  %z = phi i32 [ %w, %on ], [ %n, %again ]
  %r = phi float [ %v, %on ], [ %next, %again ]
  %last = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %z, i32 1, i32 31)
  %g = bitcast i32 %last to float
  %s = fadd float %r, %g
  store float %s, ptr addrspace(1) %out, align 8
  %second = getelementptr inbounds i8, ptr addrspace(1) %out, i64 8
  store i32 %u, ptr addrspace(1) %second, align 8
  ret void
}

declare i32 @llvm.nvvm.shfl.sync.down.i32(i32, i32, i32, i32)

attributes #0 = { nounwind }
