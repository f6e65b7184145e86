; opt=3
; A ring of 16 bits, set behind branches, twice side by side: 32 bits, whose shifts need no upper half.
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, ptr addrspace(1) align 8 %1, i1 %2, i1 %3, i32 range(i32 0, -2147483648) %4) #0 {
entry:
  br i1 %2, label %a, label %b

a:
  br label %b

b:
  %bits = phi i32 [ 1, %a ], [ 0, %entry ]
  br i1 %3, label %c, label %d

c:
  %more = or i32 %bits, 32768
  br label %d

d:
  %all = phi i32 [ %more, %c ], [ %bits, %b ]
  %wide = zext i32 %all to i64
  %high = shl i64 %wide, 16
  %ring = or i64 %high, %wide
  br label %loop

loop:
  %run = phi i64 [ %ring, %d ], [ %both, %loop ]
  %n = phi i32 [ 0, %d ], [ %next, %loop ]
  %next = add i32 %n, 1
  %shifted = lshr i64 %run, 1
  %both = and i64 %shifted, %ring
  %more1 = icmp sgt i64 %both, 5
  br i1 %more1, label %loop, label %end

end:
  %f = sitofp i64 %both to double
  store double %f, ptr addrspace(1) %1, align 8
  store i32 %next, ptr addrspace(1) %0, align 4
  ret void
}
attributes #0 = { nounwind }
