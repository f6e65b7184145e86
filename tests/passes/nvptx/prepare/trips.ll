; opt=3
; Trips of an unrolled loop that only computes, where their number is above 0: n - (n & 3).
define ptx_kernel void @k(float %x, i32 %n, ptr addrspace(1) align 4 %out) #0 {
entry:
  %some = icmp sgt i32 %n, 0
  br i1 %some, label %count, label %end

count:
  %left = and i32 %n, 3
  %few = icmp ult i32 %n, 4
  br i1 %few, label %end, label %front

front:
  %trips = and i32 %n, 2147483644
  br label %loop

loop:
  %v = phi float [ %x, %front ], [ %w, %loop ]
  %k = phi i32 [ 0, %front ], [ %next, %loop ]
  %w = fmul float %v, %v
  %next = add nuw nsw i32 %k, 4
  %done = icmp eq i32 %next, %trips
  br i1 %done, label %end, label %loop

end:
  %r = phi float [ %x, %entry ], [ %x, %count ], [ %w, %loop ]
  %l = phi i32 [ 0, %entry ], [ %left, %count ], [ %left, %loop ]
  %f = sitofp i32 %l to float
  %s = fadd float %r, %f
  store float %s, ptr addrspace(1) %out, align 4
  ret void
}

attributes #0 = { nounwind }
