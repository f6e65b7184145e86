; opt=1 recursive
define internal i32 @"f__1$1"(i32 %0) #0 {
entry:
  br label %b0

b0:                                               ; preds = %entry
  %1 = icmp slt i32 %0, 2
  br i1 %1, label %b1, label %b2

b1:                                               ; preds = %b0
  ret i32 1

b2:                                               ; preds = %b0
  %2 = sub i32 %0, 1
  %3 = call i32 @"f__1$1"(i32 %2)
  %4 = mul i32 %0, %3
  ret i32 %4
}

define ptx_kernel void @k(ptr addrspace(1) align 4 %0) #0 {
entry:
  br label %b0

b0:                                               ; preds = %entry
  %1 = getelementptr inbounds i32, ptr addrspace(1) %0, i64 1
  %2 = load i32, ptr addrspace(1) %1, align 4
  %3 = call i32 @"f__1$1"(i32 %2)
  %4 = getelementptr inbounds i32, ptr addrspace(1) %0, i64 0
  store i32 %3, ptr addrspace(1) %4, align 4
  ret void
}

attributes #0 = { nounwind }
