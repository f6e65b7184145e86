; opt=3
define void @k(ptr addrspace(1) align 1 %image, i32 range(i32 0, -2147483648) %cols, i32 %begin, i32 %count, i32 %rows, ptr addrspace(1) align 8 %out) #0 {
entry:
  %last = add nsw i32 %cols, -1
  %rest = and i32 %count, 3
  %none = icmp eq i32 %rest, 0
  %to = add nsw i32 %begin, %rest
  br label %row

row:                                              ; preds = %next, %entry
  %y = phi i32 [ 0, %entry ], [ %y.next, %next ]
  %all = phi i64 [ 0, %entry ], [ %sum.out, %next ]
  %place = phi i32 [ 0, %entry ], [ %place.out, %next ]
  %first = mul nsw i32 %y, %cols
  br i1 %none, label %next, label %pixel

pixel:                                            ; preds = %pixel, %row
  %x = phi i32 [ %x.next, %pixel ], [ %begin, %row ]
  %sum = phi i64 [ %sum.next, %pixel ], [ %all, %row ]
  %at.least = call i32 @llvm.smax.i32(i32 %x, i32 0)
  %column = call i32 @llvm.smin.i32(i32 %at.least, i32 %last)
  %index = add nsw i32 %first, %column
  %wide = sext i32 %index to i64
  %p = getelementptr inbounds i8, ptr addrspace(1) %image, i64 %wide
  %v = load i8, ptr addrspace(1) %p, align 1
  %v.wide = zext i8 %v to i64
  %sum.next = add i64 %sum, %v.wide
  %x.next = add nsw i32 %x, 1
  %done = icmp eq i32 %x.next, %to
  br i1 %done, label %next, label %pixel, !llvm.loop !0

next:                                             ; preds = %pixel, %row
  %sum.out = phi i64 [ %all, %row ], [ %sum.next, %pixel ]
  %place.out = phi i32 [ %begin, %row ], [ %x.next, %pixel ]
  %y.next = add nuw nsw i32 %y, 1
  %more = icmp slt i32 %y.next, %rows
  br i1 %more, label %row, label %end

end:                                              ; preds = %next
  %place.wide = sext i32 %place.out to i64
  %result = add i64 %sum.out, %place.wide
  store i64 %result, ptr addrspace(1) %out, align 8
  ret void
}

declare i32 @llvm.smax.i32(i32, i32) #1
declare i32 @llvm.smin.i32(i32, i32) #1

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }

!0 = distinct !{!0, !1, !2}
!1 = !{!"llvm.loop.unroll.disable"}
!2 = !{!"pyptx.rest", i32 3}
