; shared=8 before=fission
define internal void @k.thread(ptr nonnull align 8 dereferenceable(96) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  %0 = load ptr, ptr %launch, align 8, !invariant.load !0
  %1 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %2 = load i32, ptr %1, align 4, !invariant.load !0, !pyptx.field !0
  %3 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %4 = load i32, ptr %3, align 4, !invariant.load !0, !pyptx.field !0
  %5 = getelementptr inbounds nuw i8, ptr %launch, i64 40
  %6 = load ptr, ptr %5, align 8, !invariant.load !0, !pyptx.field !0
  %7 = zext nneg i32 %tx to i64
  %8 = and i64 %7, 1
  %9 = getelementptr inbounds nuw i32, ptr %6, i64 %8
  store i32 0, ptr %9, align 4
  %10 = call i32 @pyptx.barrier(i32 0, i1 false)
  %11 = icmp ult i32 %tx, %2
  br i1 %11, label %ok1, label %stop2, !prof !1

ok1:                                              ; preds = %entry
  %12 = load ptr, ptr %0, align 8, !invariant.load !0, !pyptx.field !0
  %13 = getelementptr inbounds nuw i32, ptr %12, i64 %7
  %14 = load i32, ptr %13, align 4
  %15 = atomicrmw add ptr %6, i32 %14 syncscope("singlethread") monotonic, align 4
  %16 = load i32, ptr %13, align 4
  %17 = getelementptr inbounds nuw i8, ptr %6, i64 4
  %18 = atomicrmw max ptr %17, i32 %16 syncscope("singlethread") monotonic, align 4
  %19 = call i32 @pyptx.barrier(i32 0, i1 false)
  %20 = icmp ult i32 %tx, %4
  br i1 %20, label %ok7, label %stop8, !prof !1

stop2:                                            ; preds = %entry
  %21 = zext nneg i32 %2 to i64
  call void @rt_host_trap(ptr nonnull %launch, i32 1, i64 %block, i32 %t, i64 %7, i64 %21, i64 0, i64 0)
  unreachable

ok7:                                              ; preds = %ok1
  %22 = load i32, ptr %9, align 4
  %23 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %24 = load ptr, ptr %23, align 8, !invariant.load !0, !pyptx.field !0
  %25 = getelementptr inbounds nuw i32, ptr %24, i64 %7
  store i32 %22, ptr %25, align 4
  ret void

stop8:                                            ; preds = %ok1
  %26 = zext nneg i32 %4 to i64
  call void @rt_host_trap(ptr nonnull %launch, i32 4, i64 %block, i32 %t, i64 %7, i64 %26, i64 0, i64 0)
  unreachable
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

declare i32 @pyptx.barrier(i32, i1) #2

attributes #0 = { nounwind }
attributes #1 = { cold noreturn nounwind }
attributes #2 = { convergent nounwind }

!0 = !{}
!1 = !{!"branch_weights", i32 1048576, i32 1}
