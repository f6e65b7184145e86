; shared=256
define internal void @k.thread(ptr nonnull align 8 dereferenceable(72) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  br label %b0

b0:                                               ; preds = %entry
  %0 = getelementptr inbounds i8, ptr %launch, i64 40
  %1 = load ptr, ptr %0, align 8, !invariant.load !0, !pyptx.field !0
  %t1 = getelementptr inbounds i8, ptr %1, i64 0
  %2 = zext nneg i32 %tx to i64
  %3 = udiv i64 %2, 2
  %4 = select i1 false, i64 0, i64 %3
  %5 = icmp ult i64 %4, 64
  br i1 %5, label %ok, label %stop, !prof !1

ok:                                               ; preds = %b0
  %6 = getelementptr inbounds i32, ptr %t1, i64 %4
  %7 = atomicrmw add ptr %6, i32 1 syncscope("singlethread") monotonic, align 4
  ret void

stop:                                             ; preds = %b0
  call void @rt_host_trap(ptr %launch, i32 0, i64 %block, i32 %t, i64 %4, i64 64, i64 0, i64 0)
  unreachable
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

attributes #0 = { nounwind }
attributes #1 = { cold noreturn nounwind }

!0 = !{}
!1 = !{!"branch_weights", i32 1048576, i32 1}
