; opt=1 before=entry
declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) local_unnamed_addr #0

define void @k(ptr nonnull align 8 dereferenceable(72) %0, i64 %1, i64 %2) local_unnamed_addr #1 {
begin:
  %3 = getelementptr inbounds nuw i8, ptr %0, i64 20
  %4 = load i32, ptr %3, align 4, !range !0, !invariant.load !1, !pyptx.field !1
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %6 = load i32, ptr %5, align 8, !range !0, !invariant.load !1, !pyptx.field !1
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 28
  %8 = load i32, ptr %7, align 4, !range !2, !invariant.load !1, !pyptx.field !1
  %rows = mul nuw nsw i32 %8, %6
  %9 = load ptr, ptr %0, align 8, !invariant.load !1
  %10 = getelementptr inbounds nuw i8, ptr %9, i64 8
  %11 = load i32, ptr %10, align 4, !invariant.load !1, !pyptx.field !1
  %wide.trip.count = zext i32 %11 to i64
  %wide.trip.count19 = zext i32 %4 to i64
  br label %block

block:                                            ; preds = %19, %begin
  %block1 = phi i64 [ %1, %begin ], [ %20, %19 ]
  br label %row

row:                                              ; preds = %17, %block
  %row2 = phi i32 [ 0, %block ], [ %18, %17 ]
  br label %tx

tx:                                               ; preds = %k.thread.exit, %row
  %indvars.iv = phi i64 [ %indvars.iv.next, %k.thread.exit ], [ 0, %row ]
  %exitcond.not = icmp eq i64 %wide.trip.count, %indvars.iv
  br i1 %exitcond.not, label %stop.i, label %k.thread.exit, !prof !3

stop.i:                                           ; preds = %tx
  %block1.lcssa = phi i64 [ %block1, %tx ]
  %row2.lcssa = phi i32 [ %row2, %tx ]
  %indvars.iv.lcssa = phi i64 [ %indvars.iv, %tx ]
  %12 = trunc nuw nsw i64 %indvars.iv.lcssa to i32
  %13 = zext nneg i32 %11 to i64
  %14 = mul nuw i32 %row2.lcssa, %4
  %t = add nuw nsw i32 %14, %12
  tail call void @rt_host_trap(ptr nonnull align 8 dereferenceable(72) %0, i32 0, i64 %block1.lcssa, i32 %t, i64 %indvars.iv.lcssa, i64 %13, i64 0, i64 0)
  unreachable

k.thread.exit:                           ; preds = %tx
  %15 = load ptr, ptr %9, align 8, !invariant.load !1, !pyptx.field !1
  %16 = shl nuw nsw i64 %indvars.iv, 2
  %scevgep = getelementptr i8, ptr %15, i64 %16
  store i32 1, ptr %scevgep, align 4
  %indvars.iv.next = add nuw nsw i64 %indvars.iv, 1
  %exitcond20.not = icmp eq i64 %wide.trip.count19, %indvars.iv.next
  br i1 %exitcond20.not, label %17, label %tx, !llvm.loop !4

17:                                               ; preds = %k.thread.exit
  %18 = add nuw nsw i32 %row2, 1
  %exitcond21.not = icmp eq i32 %18, %rows
  br i1 %exitcond21.not, label %19, label %row, !llvm.loop !6

19:                                               ; preds = %17
  %20 = add nuw i64 %block1, 1
  %21 = icmp ult i64 %20, %2
  br i1 %21, label %block, label %22, !llvm.loop !7

22:                                               ; preds = %19
  ret void
}

attributes #0 = { cold noreturn nounwind }
attributes #1 = { nounwind }

!0 = !{i32 1, i32 1025}
!1 = !{}
!2 = !{i32 1, i32 65}
!3 = !{!"branch_weights", i32 1, i32 1048576}
!4 = distinct !{!4, !5}
!5 = !{!"llvm.loop.unroll.disable"}
!6 = distinct !{!6, !5}
!7 = distinct !{!7, !5}
