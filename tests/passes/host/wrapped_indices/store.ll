; opt=3
define internal void @k.thread(ptr nonnull align 8 dereferenceable(72) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  %0 = load ptr, ptr %launch, align 8, !invariant.load !0
  %1 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %2 = load i32, ptr %1, align 4, !invariant.load !0, !pyptx.field !0
  %3 = zext nneg i32 %2 to i64
  %4 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %5 = load ptr, ptr %4, align 8, !invariant.load !0, !pyptx.field !0
  %6 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %7 = load i32, ptr %6, align 4, !invariant.load !0, !pyptx.field !0
  %.not = icmp eq i32 %7, 0
  br i1 %.not, label %stop, label %ok, !prof !1

ok:                                               ; preds = %entry
  %8 = load i64, ptr %5, align 8
  %9 = icmp slt i64 %8, 0
  %10 = select i1 %9, i64 %3, i64 0
  %11 = add i64 %8, %10
  %12 = icmp ult i64 %11, %3
  br i1 %12, label %ok1, label %stop2, !prof !2

stop:                                             ; preds = %entry
  %13 = zext nneg i32 %7 to i64
  call void @rt_host_trap_in_line(ptr %launch, i32 0, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 0, i64 %13, i64 0, i64 0)
  unreachable

ok1:                                              ; preds = %ok
  %14 = load ptr, ptr %0, align 8, !invariant.load !0, !pyptx.field !0
  %15 = getelementptr inbounds i32, ptr %14, i64 %11
  store i32 1, ptr %15, align 4
  ret void

stop2:                                            ; preds = %ok
  %16 = icmp slt i64 %11, 0
  %17 = select i1 %16, i64 %3, i64 0
  %18 = sub nuw i64 %11, %17
  call void @rt_host_trap_in_line(ptr %launch, i32 1, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %18, i64 %3, i64 0, i64 0)
  unreachable
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

declare void @rt_host_trap_in_line(ptr, i32, i32, i32, i32, i32, i32, i64, i64, i64, i64) #2

attributes #0 = { alwaysinline nounwind }
attributes #1 = { cold noreturn nounwind }
attributes #2 = { cold noreturn }

!0 = !{}
!1 = !{!"branch_weights", i32 1, i32 1048576}
!2 = !{!"branch_weights", i32 1048576, i32 1}
