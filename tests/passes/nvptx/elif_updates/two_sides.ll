; opt=3
; What elif changes is a branch of its own behind the first one: of the first branch the second side
; holds it, of the second branch the first one.
define ptx_kernel void @k(ptr addrspace(1) align 4 %out, i32 %d, i32 %t, i32 %above, i32 %bits) #0 {
entry:
  %low = sub nsw i32 0, %t
  %gt = icmp sgt i32 %d, %t
  br i1 %gt, label %more, label %less

more:
  %over = sub i32 %d, %t
  %above.more = add i32 %above, %over
  %bits.more = or i32 %bits, 1
  br label %join

less:
  %lt = icmp slt i32 %d, %low
  %under = add i32 %d, %t
  %below.less = sub i32 7, %under
  %below = select i1 %lt, i32 %below.less, i32 7
  %dark.bit = select i1 %lt, i32 256, i32 0
  %dark = or i32 %dark.bit, %bits
  br label %join

join:
  %above.1 = phi i32 [ %above.more, %more ], [ %above, %less ]
  %bright.1 = phi i32 [ %bits.more, %more ], [ %bits, %less ]
  %below.1 = phi i32 [ 7, %more ], [ %below, %less ]
  %dark.1 = phi i32 [ %bits, %more ], [ %dark, %less ]
  %small = icmp slt i32 %above.1, %below.1
  br i1 %small, label %shrink, label %grow

shrink:
  %far = icmp ugt i32 %below.1, 99
  %x.far = shl i32 %bright.1, 2
  %y.far = add i32 %dark.1, 3
  %x.1 = select i1 %far, i32 %x.far, i32 %bright.1
  %y.1 = select i1 %far, i32 %y.far, i32 %dark.1
  br label %end

grow:
  %z.1 = add i32 %t, 5
  br label %end

end:
  %x = phi i32 [ %x.1, %shrink ], [ %bright.1, %grow ]
  %y = phi i32 [ %y.1, %shrink ], [ %dark.1, %grow ]
  %z = phi i32 [ %t, %shrink ], [ %z.1, %grow ]
  store i32 %x, ptr addrspace(1) %out, align 4
  %out1 = getelementptr i8, ptr addrspace(1) %out, i64 4
  store i32 %y, ptr addrspace(1) %out1, align 4
  %out2 = getelementptr i8, ptr addrspace(1) %out, i64 8
  store i32 %z, ptr addrspace(1) %out2, align 4
  %out3 = getelementptr i8, ptr addrspace(1) %out, i64 12
  store i32 %above.1, ptr addrspace(1) %out3, align 4
  ret void
}

attributes #0 = { nounwind }
