; opt=3
define void @k(ptr addrspace(1) align 4 %x, i32 %n, i32 %first, ptr addrspace(1) align 4 %out) #0 {
entry:
  %some = icmp ne i32 %n, 0
  br i1 %some, label %rest, label %end

rest:                                             ; preds = %entry, %rest
  %i = phi i32 [ %next, %rest ], [ 0, %entry ]
  %at = phi i32 [ %further, %rest ], [ %first, %entry ]
  %least = phi i32 [ %less, %rest ], [ 2147483647, %entry ]
  %wide = sext i32 %at to i64
  %p = getelementptr inbounds i32, ptr addrspace(1) %x, i64 %wide
  %v = load i32, ptr addrspace(1) %p, align 4
  %more = add i32 %v, 1
  %less = call i32 @llvm.smin.i32(i32 %least, i32 %more)
  %further = add nsw i32 %at, 1
  %next = add i32 %i, 1
  %again = icmp ne i32 %next, %n
  br i1 %again, label %rest, label %end, !llvm.loop !0

end:                                              ; preds = %rest, %entry
  %all = phi i32 [ 2147483647, %entry ], [ %less, %rest ]
  %behind = phi i32 [ %first, %entry ], [ %further, %rest ]
  %sum = add i32 %all, %behind
  store i32 %sum, ptr addrspace(1) %out, align 4
  ret void
}

declare i32 @llvm.smin.i32(i32, i32)

attributes #0 = { nounwind }

!0 = distinct !{!0, !1, !2}
!1 = !{!"llvm.loop.unroll.disable"}
!2 = !{!"pyptx.rest", i32 3}
