; opt=3
define internal float @"g__1$1"({ ptr, i64, i32, i32, i32, i32, i32, i32, i32 } %0, ptr %1, i64 %2, i64 %3) #0 {
entry:
  br label %b0

b0:                                               ; preds = %entry
  %4 = call i32 @pyptx.barrier(i32 0, i1 false)
  %5 = sub i64 63, %3
  %6 = icmp slt i64 %5, 0
  %7 = add i64 %5, %2
  %8 = select i1 %6, i64 %7, i64 %5
  %9 = icmp ult i64 %8, %2
  br i1 %9, label %ok, label %stop, !prof !0

ok:                                               ; preds = %b0
  %10 = getelementptr inbounds float, ptr %1, i64 %8
  %11 = load float, ptr %10, align 4
  ret float %11

stop:                                             ; preds = %b0
  %12 = icmp slt i64 %8, 0
  %13 = sub i64 %8, %2
  %14 = select i1 %12, i64 %13, i64 %8
  %15 = extractvalue { ptr, i64, i32, i32, i32, i32, i32, i32, i32 } %0, 0
  %16 = extractvalue { ptr, i64, i32, i32, i32, i32, i32, i32, i32 } %0, 1
  %17 = extractvalue { ptr, i64, i32, i32, i32, i32, i32, i32, i32 } %0, 8
  call void @rt_host_trap(ptr %15, i32 2, i64 %16, i32 %17, i64 %14, i64 %2, i64 0, i64 0)
  unreachable
}

define internal void @k.thread(ptr nonnull align 8 dereferenceable(72) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #1 {
entry:
  %0 = insertvalue { ptr, i64, i32, i32, i32, i32, i32, i32, i32 } undef, ptr %launch, 0
  %1 = insertvalue { ptr, i64, i32, i32, i32, i32, i32, i32, i32 } %0, i64 %block, 1
  %2 = insertvalue { ptr, i64, i32, i32, i32, i32, i32, i32, i32 } %1, i32 %bx, 2
  %3 = insertvalue { ptr, i64, i32, i32, i32, i32, i32, i32, i32 } %2, i32 %by, 3
  %4 = insertvalue { ptr, i64, i32, i32, i32, i32, i32, i32, i32 } %3, i32 %bz, 4
  %5 = insertvalue { ptr, i64, i32, i32, i32, i32, i32, i32, i32 } %4, i32 %tx, 5
  %6 = insertvalue { ptr, i64, i32, i32, i32, i32, i32, i32, i32 } %5, i32 %ty, 6
  %7 = insertvalue { ptr, i64, i32, i32, i32, i32, i32, i32, i32 } %6, i32 %tz, 7
  %8 = insertvalue { ptr, i64, i32, i32, i32, i32, i32, i32, i32 } %7, i32 %t, 8
  %9 = getelementptr inbounds i8, ptr %launch, i64 0
  %10 = load ptr, ptr %9, align 8, !invariant.load !1, !pyptx.field !1
  %11 = getelementptr inbounds i8, ptr %10, i64 0
  %12 = load ptr, ptr %11, align 8, !invariant.load !1, !pyptx.field !1
  %13 = getelementptr inbounds i8, ptr %launch, i64 0
  %14 = load ptr, ptr %13, align 8, !invariant.load !1, !pyptx.field !1
  %15 = getelementptr inbounds i8, ptr %14, i64 8
  %16 = load i32, ptr %15, align 4, !invariant.load !1, !pyptx.field !1
  %17 = zext nneg i32 %16 to i64
  br label %b0

b0:                                               ; preds = %entry
  %18 = getelementptr inbounds i8, ptr %launch, i64 40
  %19 = load ptr, ptr %18, align 8, !invariant.load !1, !pyptx.field !1
  %t1 = getelementptr inbounds i8, ptr %19, i64 0
  %20 = zext nneg i32 %tx to i64
  %21 = icmp ult i64 %20, %17
  br i1 %21, label %ok, label %stop, !prof !0

ok:                                               ; preds = %b0
  %22 = getelementptr inbounds float, ptr %12, i64 %20
  %23 = load float, ptr %22, align 4
  %24 = icmp ult i64 %20, 64
  br i1 %24, label %ok2, label %stop3, !prof !0

stop:                                             ; preds = %b0
  call void @rt_host_trap(ptr %launch, i32 0, i64 %block, i32 %t, i64 %20, i64 %17, i64 0, i64 0)
  unreachable

ok2:                                              ; preds = %ok
  %25 = getelementptr inbounds float, ptr %t1, i64 %20
  store float %23, ptr %25, align 4
  %26 = call float @"g__1$1"({ ptr, i64, i32, i32, i32, i32, i32, i32, i32 } %8, ptr %t1, i64 64, i64 %20)
  %27 = icmp ult i64 %20, %17
  br i1 %27, label %ok4, label %stop5, !prof !0

stop3:                                            ; preds = %ok
  call void @rt_host_trap(ptr %launch, i32 1, i64 %block, i32 %t, i64 %20, i64 64, i64 0, i64 0)
  unreachable

ok4:                                              ; preds = %ok2
  %28 = getelementptr inbounds float, ptr %12, i64 %20
  store float %26, ptr %28, align 4
  ret void

stop5:                                            ; preds = %ok2
  call void @rt_host_trap(ptr %launch, i32 3, i64 %block, i32 %t, i64 %20, i64 %17, i64 0, i64 0)
  unreachable
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #2

declare i32 @pyptx.barrier(i32, i1) #3

attributes #0 = { alwaysinline convergent nounwind }
attributes #1 = { nounwind }
attributes #2 = { cold noreturn nounwind }
attributes #3 = { convergent nounwind }

!0 = !{!"branch_weights", i32 1048576, i32 1}
!1 = !{}
