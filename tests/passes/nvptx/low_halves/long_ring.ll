; opt=3
; The same of numbers that may have more than 32 bits: all stays.
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, ptr addrspace(1) align 8 %1, i32 %bits, i64 %start) #0 {
entry:
  %wide = zext i32 %bits to i64
  %high = shl i64 %wide, 1
  %ring = or i64 %high, 3
  br label %loop

loop:
  %run = phi i64 [ %ring, %entry ], [ %both, %loop ]
  %count = phi i64 [ 0, %entry ], [ %later, %loop ]
  %later = add i64 %count, 1
  %shifted = lshr i64 %run, 1
  %both = and i64 %shifted, %ring
  %more = icmp ugt i64 %both, %count
  br i1 %more, label %loop, label %end

end:
  %f = sitofp i64 %both to double
  %other = icmp slt i64 %start, %both
  %g = select i1 %other, double %f, double 2.0
  store double %g, ptr addrspace(1) %1, align 8
  ret void
}
attributes #0 = { nounwind }
