; shared=256 before=fission axes=1
; The loop ends with what an input says: all threads of a block come to its barriers.
define internal void @k.thread(ptr nonnull align 8 dereferenceable(96) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  %0 = load ptr, ptr %launch, align 8, !invariant.load !0
  %1 = load ptr, ptr %0, align 8, !invariant.load !0, !pyptx.field !0
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %3 = load i32, ptr %2, align 4, !invariant.load !0, !pyptx.field !0
  %4 = getelementptr inbounds nuw i8, ptr %launch, i64 40
  %5 = load ptr, ptr %4, align 8, !invariant.load !0, !pyptx.field !0
  %6 = zext nneg i32 %tx to i64
  %7 = icmp ult i32 %tx, 64
  br i1 %7, label %ok, label %stop, !prof !1

b1:                                               ; preds = %b2, %ok1
  %8 = phi i64 [ 0, %ok1 ], [ %10, %b2 ]
  %9 = icmp slt i64 %8, %19
  br i1 %9, label %b2, label %b3

b2:                                               ; preds = %b1
  %10 = add nuw nsw i64 %8, 1
  %11 = call i32 @pyptx.barrier(i32 0, i1 false)
  %12 = sub nuw nsw i64 63, %6
  %13 = getelementptr inbounds nuw i32, ptr %5, i64 %12
  %14 = load i32, ptr %13, align 4
  %15 = call i32 @pyptx.barrier(i32 0, i1 false)
  %16 = add i32 %14, 1
  store i32 %16, ptr %17, align 4
  br label %b1

b3:                                               ; preds = %b1
  ret void

ok:                                               ; preds = %entry
  %17 = getelementptr inbounds nuw i32, ptr %5, i64 %6
  store i32 %tx, ptr %17, align 4
  %.not = icmp eq i32 %3, 0
  br i1 %.not, label %stop2, label %ok1, !prof !2

stop:                                             ; preds = %entry
  call void @rt_host_trap(ptr nonnull %launch, i32 0, i64 %block, i32 %t, i64 %6, i64 64, i64 0, i64 0)
  unreachable

ok1:                                              ; preds = %ok
  %18 = load i32, ptr %1, align 4
  %19 = sext i32 %18 to i64
  br label %b1

stop2:                                            ; preds = %ok
  %20 = zext nneg i32 %3 to i64
  call void @rt_host_trap(ptr nonnull %launch, i32 1, i64 %block, i32 %t, i64 0, i64 %20, i64 0, i64 0)
  unreachable
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

declare i32 @pyptx.barrier(i32, i1) #2

attributes #0 = { nounwind }
attributes #1 = { cold noreturn nounwind }
attributes #2 = { convergent nounwind }

!0 = !{}
!1 = !{!"branch_weights", i32 1048576, i32 1}
!2 = !{!"branch_weights", i32 1, i32 1048576}
