; opt=2 before=entry
define internal void @k.thread(ptr nonnull align 8 dereferenceable(72) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  %0 = getelementptr inbounds i8, ptr %launch, i64 0
  %1 = load ptr, ptr %0, align 8, !invariant.load !0, !pyptx.field !0
  %2 = getelementptr inbounds i8, ptr %1, i64 0
  %3 = load ptr, ptr %2, align 8, !invariant.load !0, !pyptx.field !0
  %4 = getelementptr inbounds i8, ptr %launch, i64 0
  %5 = load ptr, ptr %4, align 8, !invariant.load !0, !pyptx.field !0
  %6 = getelementptr inbounds i8, ptr %5, i64 8
  %7 = load i32, ptr %6, align 4, !invariant.load !0, !pyptx.field !0
  %8 = zext nneg i32 %7 to i64
  br label %b0

b0:                                               ; preds = %entry
  %9 = zext nneg i32 %tx to i64
  %10 = icmp ult i64 %9, %8
  br i1 %10, label %ok, label %stop, !prof !1

ok:                                               ; preds = %b0
  %11 = getelementptr inbounds i32, ptr %3, i64 %9
  store i32 1, ptr %11, align 4
  ret void

stop:                                             ; preds = %b0
  call void @rt_host_trap(ptr %launch, i32 0, i64 %block, i32 %t, i64 %9, i64 %8, i64 0, i64 0)
  unreachable
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

attributes #0 = { alwaysinline nounwind }
attributes #1 = { cold noreturn nounwind }

!0 = !{}
!1 = !{!"branch_weights", i32 1048576, i32 1}
