; opt=3 arch=sm_80
define ptx_kernel void @k(ptr addrspace(3) %s, ptr addrspace(1) %out, i32 %n, i16 %first) #0 {
entry:
  br label %b1

b1:                                               ; preds = %b1, %entry
  %k = phi i32 [ 0, %entry ], [ %k1, %b1 ]
  %sum = phi i32 [ 0, %entry ], [ %sum3, %b1 ]
  %lo = phi i16 [ 0, %entry ], [ %e1, %b1 ]
  %hi = phi i16 [ 0, %entry ], [ %e0, %b1 ]
  %lo2 = phi i16 [ %first, %entry ], [ %e0, %b1 ]
  %hi2 = phi i16 [ 0, %entry ], [ %e1, %b1 ]
  %lo3 = phi i16 [ 0, %entry ], [ %e0, %b1 ]
  %hi3 = phi i16 [ 0, %entry ], [ %e1, %b1 ]
  %v0 = insertelement <2 x i16> poison, i16 %lo, i64 0
  %v1 = insertelement <2 x i16> %v0, i16 %hi, i64 1
  %v = bitcast <2 x i16> %v1 to i32
  %u0 = insertelement <2 x i16> poison, i16 %lo2, i64 0
  %u1 = insertelement <2 x i16> %u0, i16 %hi2, i64 1
  %u = bitcast <2 x i16> %u1 to i32
  %w0 = insertelement <2 x i16> poison, i16 %lo3, i64 0
  %w1 = insertelement <2 x i16> %w0, i16 %hi3, i64 1
  %w = bitcast <2 x i16> %w1 to i32
  %extra = zext i16 %lo3 to i32
  %sum1 = add i32 %sum, %v
  %sum2 = xor i32 %sum1, %u
  %sum2b = mul i32 %sum2, %w
  %sum3 = add i32 %sum2b, %extra
  %p = getelementptr i32, ptr addrspace(3) %s, i32 %k
  %x = load i32, ptr addrspace(3) %p, align 4
  %xv = bitcast i32 %x to <2 x i16>
  %e0 = extractelement <2 x i16> %xv, i64 0
  %e1 = extractelement <2 x i16> %xv, i64 1
  %k1 = add i32 %k, 1
  %more = icmp ult i32 %k1, %n
  br i1 %more, label %b1, label %b2

b2:                                               ; preds = %b1
  store i32 %sum3, ptr addrspace(1) %out, align 4
  ret void
}

attributes #0 = { nounwind }
