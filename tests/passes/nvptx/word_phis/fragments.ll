; opt=3 arch=sm_80
define ptx_kernel void @k(ptr addrspace(3) %s, ptr addrspace(1) %out, i32 %n) #0 {
entry:
  %w = load i32, ptr addrspace(3) %s, align 4
  %h = lshr i32 %w, 16
  %h1 = trunc nuw i32 %h to i16
  %h0 = trunc i32 %w to i16
  br label %b1

b1:                                               ; preds = %b1, %entry
  %k = phi i32 [ 0, %entry ], [ %k1, %b1 ]
  %sum = phi i32 [ 0, %entry ], [ %sum2, %b1 ]
  %lo = phi i16 [ %h0, %entry ], [ %e0, %b1 ]
  %hi = phi i16 [ %h1, %entry ], [ %e1, %b1 ]
  %q0 = phi i8 [ 1, %entry ], [ %f0, %b1 ]
  %q1 = phi i8 [ 2, %entry ], [ %f1, %b1 ]
  %q2 = phi i8 [ 3, %entry ], [ %f2, %b1 ]
  %q3 = phi i8 [ -4, %entry ], [ %f3, %b1 ]
  %v0 = insertelement <2 x i16> poison, i16 %lo, i64 0
  %v1 = insertelement <2 x i16> %v0, i16 %hi, i64 1
  %v = bitcast <2 x i16> %v1 to i32
  %u0 = insertelement <4 x i8> poison, i8 %q0, i64 0
  %u1 = insertelement <4 x i8> %u0, i8 %q1, i64 1
  %u2 = insertelement <4 x i8> %u1, i8 %q2, i64 2
  %u3 = insertelement <4 x i8> %u2, i8 %q3, i64 3
  %u = bitcast <4 x i8> %u3 to i32
  %sum1 = add i32 %sum, %v
  %sum2 = xor i32 %sum1, %u
  %p = getelementptr i32, ptr addrspace(3) %s, i32 %k
  %x = load i32, ptr addrspace(3) %p, align 4
  %xv = bitcast i32 %x to <2 x i16>
  %e0 = extractelement <2 x i16> %xv, i64 0
  %e1 = extractelement <2 x i16> %xv, i64 1
  %xu = bitcast i32 %x to <4 x i8>
  %f0 = extractelement <4 x i8> %xu, i64 0
  %f1 = extractelement <4 x i8> %xu, i64 1
  %f2 = extractelement <4 x i8> %xu, i64 2
  %f3 = extractelement <4 x i8> %xu, i64 3
  %k1 = add i32 %k, 1
  %more = icmp ult i32 %k1, %n
  br i1 %more, label %b1, label %b2

b2:                                               ; preds = %b1
  store i32 %sum2, ptr addrspace(1) %out, align 4
  ret void
}

attributes #0 = { nounwind }
