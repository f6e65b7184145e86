; shared=256 before=fission
define internal void @k.thread(ptr nonnull align 8 dereferenceable(96) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  %0 = load ptr, ptr %launch, align 8, !invariant.load !0
  %1 = load ptr, ptr %0, align 8, !invariant.load !0, !pyptx.field !0
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %3 = load i32, ptr %2, align 4, !invariant.load !0, !pyptx.field !0
  %4 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %5 = load ptr, ptr %4, align 8, !invariant.load !0, !pyptx.field !0
  %6 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %7 = load i32, ptr %6, align 4, !invariant.load !0, !pyptx.field !0
  %8 = getelementptr inbounds nuw i8, ptr %launch, i64 40
  %9 = load ptr, ptr %8, align 8, !invariant.load !0, !pyptx.field !0
  %10 = zext nneg i32 %tx to i64
  %11 = icmp ult i32 %tx, 64
  br i1 %11, label %ok, label %stop, !prof !1

b2:                                               ; preds = %sum.own, %sum.shared, %ok3
  ret void

ok:                                               ; preds = %entry
  %12 = getelementptr inbounds nuw i32, ptr %9, i64 %10
  store i32 0, ptr %12, align 4
  %13 = call i32 @pyptx.barrier(i32 0, i1 false)
  %14 = icmp ult i32 %tx, %3
  br i1 %14, label %ok1, label %stop2, !prof !1

stop:                                             ; preds = %entry
  call void @rt_host_trap(ptr nonnull %launch, i32 0, i64 %block, i32 %t, i64 %10, i64 64, i64 0, i64 0)
  unreachable

ok1:                                              ; preds = %ok
  %15 = getelementptr inbounds nuw i8, ptr %1, i64 %10
  %16 = load i8, ptr %15, align 1
  %17 = zext i8 %16 to i64
  %18 = icmp ult i8 %16, 64
  br i1 %18, label %ok3, label %stop4, !prof !1

stop2:                                            ; preds = %ok
  %19 = zext nneg i32 %3 to i64
  call void @rt_host_trap(ptr nonnull %launch, i32 1, i64 %block, i32 %t, i64 %10, i64 %19, i64 0, i64 0)
  unreachable

ok3:                                              ; preds = %ok1
  %20 = getelementptr inbounds nuw i32, ptr %9, i64 %17
  %21 = atomicrmw add ptr %20, i32 1 syncscope("singlethread") monotonic, align 4
  %22 = call i32 @pyptx.barrier(i32 0, i1 false)
  %23 = icmp ult i32 %tx, %7
  br i1 %23, label %ok5, label %b2

stop4:                                            ; preds = %ok1
  call void @rt_host_trap(ptr nonnull %launch, i32 2, i64 %block, i32 %t, i64 %17, i64 64, i64 0, i64 0)
  unreachable

ok5:                                              ; preds = %ok3
  %24 = load i32, ptr %12, align 4
  %25 = getelementptr inbounds nuw i32, ptr %5, i64 %10
  %26 = getelementptr inbounds nuw i8, ptr %launch, i64 84
  %27 = load i32, ptr %26, align 4, !invariant.load !0, !pyptx.field !0
  %.not = icmp eq i32 %27, 0
  br i1 %.not, label %sum.shared, label %sum.own

sum.own:                                          ; preds = %ok5
  %28 = atomicrmw add ptr %25, i32 %24 syncscope("singlethread") monotonic, align 4
  br label %b2

sum.shared:                                       ; preds = %ok5
  %29 = atomicrmw add ptr %25, i32 %24 monotonic, align 4
  br label %b2
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

declare i32 @pyptx.barrier(i32, i1) #2

attributes #0 = { nounwind }
attributes #1 = { cold noreturn nounwind }
attributes #2 = { convergent nounwind }

!0 = !{}
!1 = !{!"branch_weights", i32 1048576, i32 1}
