; opt=3
; The two words of a float64 and of an int64 that go to another lane are those of one phi, also of constants.
define ptx_kernel void @k(double %x, i64 %n, i1 %c, ptr addrspace(1) align 8 %out) #0 {
entry:
  %xs = bitcast double %x to <2 x i32>
  %x0 = extractelement <2 x i32> %xs, i64 0
  %x1 = extractelement <2 x i32> %xs, i64 1
  %ns = bitcast i64 %n to <2 x i32>
  %n1 = extractelement <2 x i32> %ns, i64 1
  br i1 %c, label %more, label %on

more:                                             ; preds = %entry
  %sum = fadd double %x, 1.000000e+00
  %ss = bitcast double %sum to <2 x i32>
  %s0 = extractelement <2 x i32> %ss, i64 0
  %s1 = extractelement <2 x i32> %ss, i64 1
  br label %on

on:                                               ; preds = %more, %entry
  %v = phi double [ %x, %entry ], [ %sum, %more ]
  %v0 = phi i32 [ %x0, %entry ], [ %s0, %more ]
  %v1 = phi i32 [ %x1, %entry ], [ %s1, %more ]
  %mixed = phi i32 [ %x0, %entry ], [ %s1, %more ]
  %m = phi i64 [ %n, %entry ], [ 8589934595, %more ]
  %m1 = phi i32 [ %n1, %entry ], [ 2, %more ]
  %a = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %v0, i32 2, i32 31)
  %b = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %v1, i32 2, i32 31)
  %d = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %m1, i32 2, i32 31)
  store double %v, ptr addrspace(1) %out, align 8
  %p1 = getelementptr inbounds i8, ptr addrspace(1) %out, i64 8
  store i32 %a, ptr addrspace(1) %p1, align 8
  %p2 = getelementptr inbounds i8, ptr addrspace(1) %out, i64 16
  store i32 %b, ptr addrspace(1) %p2, align 8
  %p3 = getelementptr inbounds i8, ptr addrspace(1) %out, i64 24
  store i32 %d, ptr addrspace(1) %p3, align 8
  %p4 = getelementptr inbounds i8, ptr addrspace(1) %out, i64 32
  store i32 %mixed, ptr addrspace(1) %p4, align 8
  %p5 = getelementptr inbounds i8, ptr addrspace(1) %out, i64 40
  store i64 %m, ptr addrspace(1) %p5, align 8
  ret void
}

declare i32 @llvm.nvvm.shfl.sync.down.i32(i32, i32, i32, i32)

attributes #0 = { nounwind }
