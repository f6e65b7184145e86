; opt=3
define internal void @k.thread(ptr nonnull align 8 dereferenceable(96) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  %0 = load ptr, ptr %launch, align 8, !invariant.load !0
  %1 = load ptr, ptr %0, align 8, !invariant.load !0, !pyptx.field !0
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %3 = load i32, ptr %2, align 4, !invariant.load !0, !pyptx.field !0
  %4 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %5 = load i32, ptr %4, align 4, !invariant.load !0, !pyptx.field !0
  %6 = zext nneg i32 %5 to i64
  %.not = icmp eq i32 %3, 0
  br i1 %.not, label %stop, label %ok, !prof !1

ok:                                               ; preds = %entry
  %7 = load i32, ptr %1, align 4
  %8 = sext i32 %7 to i64
  %9 = icmp slt i32 %7, 0
  %10 = select i1 %9, i64 %6, i64 0
  %11 = add nsw i64 %10, %8
  %12 = icmp ult i64 %11, %6
  br i1 %12, label %ok1, label %stop2, !prof !2

stop:                                             ; preds = %entry
  %13 = zext nneg i32 %3 to i64
  call void @rt_host_trap_in_line(ptr %launch, i32 0, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 0, i64 %13, i64 0, i64 0)
  unreachable

ok1:                                              ; preds = %ok
  %14 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %15 = load ptr, ptr %14, align 8, !invariant.load !0, !pyptx.field !0
  %16 = getelementptr inbounds i32, ptr %15, i64 %11
  store i32 1, ptr %16, align 4
  ret void

stop2:                                            ; preds = %ok
  %17 = icmp slt i64 %11, 0
  %18 = select i1 %17, i64 %6, i64 0
  %19 = sub nuw nsw i64 %11, %18
  call void @rt_host_trap_in_line(ptr %launch, i32 1, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %19, i64 %6, i64 0, i64 0)
  unreachable
}

declare void @rt_host_trap_in_line(ptr, i32, i32, i32, i32, i32, i32, i64, i64, i64, i64) #2

attributes #0 = { alwaysinline nounwind }
attributes #1 = { cold noreturn nounwind }
attributes #2 = { cold noreturn }
attributes #3 = { nounwind }
attributes #4 = { noinline nounwind optsize }
attributes #5 = { alwaysinline }

!0 = !{}
!1 = !{!"branch_weights", i32 1, i32 1048576}
!2 = !{!"branch_weights", i32 1048576, i32 1}
!3 = distinct !{!3, !4}
!4 = !{!"llvm.loop.unroll.disable"}
!5 = distinct !{!5, !4}
