; opt=3
; Left alone: one selection, selections by different conditions, and a load in the side.
define ptx_kernel void @k(ptr addrspace(1) align 4 %out, i32 %d, i32 %t, i32 %a, i32 %b) #0 {
entry:
  %gt = icmp sgt i32 %d, %t
  br i1 %gt, label %yes1, label %no1

yes1:
  %a1 = add i32 %a, %d
  br label %join1

no1:
  %lt = icmp slt i32 %d, 3
  %b1.new = sub i32 %b, %d
  %b1 = select i1 %lt, i32 %b1.new, i32 %b
  br label %join1

join1:
  %a2 = phi i32 [ %a1, %yes1 ], [ %a, %no1 ]
  %b2 = phi i32 [ %b, %yes1 ], [ %b1, %no1 ]
  br i1 %gt, label %yes2, label %no2

yes2:
  %a3 = add i32 %a2, %t
  br label %join2

no2:
  %p = icmp slt i32 %d, 4
  %q = icmp slt i32 %d, 5
  %b3.new = sub i32 %b2, 1
  %c3.new = add i32 %t, 1
  %b3 = select i1 %p, i32 %b3.new, i32 %b2
  %c3 = select i1 %q, i32 %c3.new, i32 %t
  br label %join2

join2:
  %a4 = phi i32 [ %a3, %yes2 ], [ %a2, %no2 ]
  %b4 = phi i32 [ %b2, %yes2 ], [ %b3, %no2 ]
  %c4 = phi i32 [ %t, %yes2 ], [ %c3, %no2 ]
  br i1 %gt, label %yes3, label %no3

yes3:
  %a5 = add i32 %a4, %c4
  br label %join3

no3:
  %l = load i32, ptr addrspace(1) %out, align 4
  %r = icmp slt i32 %l, 6
  %b5.new = sub i32 %b4, 2
  %c5.new = add i32 %c4, 2
  %b5 = select i1 %r, i32 %b5.new, i32 %b4
  %c5 = select i1 %r, i32 %c5.new, i32 %c4
  br label %join3

join3:
  %a6 = phi i32 [ %a5, %yes3 ], [ %a4, %no3 ]
  %b6 = phi i32 [ %b4, %yes3 ], [ %b5, %no3 ]
  %c6 = phi i32 [ %c4, %yes3 ], [ %c5, %no3 ]
  %ab = xor i32 %a6, %b6
  %abc = xor i32 %ab, %c6
  store i32 %abc, ptr addrspace(1) %out, align 4
  ret void
}

attributes #0 = { nounwind }
