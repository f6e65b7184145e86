; shared=256
define internal void @k.thread(ptr nonnull align 8 dereferenceable(72) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  %0 = load ptr, ptr %launch, align 8, !invariant.load !0
  %1 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %2 = load i32, ptr %1, align 4, !invariant.load !0, !pyptx.field !0
  %3 = zext nneg i32 %tx to i64
  %4 = icmp ult i32 %tx, %2
  br i1 %4, label %ok, label %stop, !prof !1

ok:                                               ; preds = %entry
  %5 = icmp ult i32 %tx, 64
  br i1 %5, label %ok2, label %stop3, !prof !1

stop:                                             ; preds = %entry
  %6 = zext nneg i32 %2 to i64
  call void @rt_host_trap(ptr nonnull %launch, i32 0, i64 %block, i32 %t, i64 %3, i64 %6, i64 0, i64 0)
  unreachable

ok2:                                              ; preds = %ok
  %7 = load ptr, ptr %0, align 8, !invariant.load !0, !pyptx.field !0
  %8 = getelementptr inbounds nuw float, ptr %7, i64 %3
  %9 = getelementptr inbounds nuw i8, ptr %launch, i64 40
  %10 = load ptr, ptr %9, align 8, !invariant.load !0, !pyptx.field !0
  %11 = load float, ptr %8, align 4
  %12 = getelementptr inbounds nuw float, ptr %10, i64 %3
  store float %11, ptr %12, align 4
  %13 = call i32 @pyptx.barrier(i32 0, i1 false)
  %14 = sub nuw nsw i64 63, %3
  %15 = getelementptr inbounds nuw float, ptr %10, i64 %14
  %16 = load float, ptr %15, align 4
  store float %16, ptr %8, align 4
  ret void

stop3:                                            ; preds = %ok
  call void @rt_host_trap(ptr nonnull %launch, i32 1, i64 %block, i32 %t, i64 %3, i64 64, i64 0, i64 0)
  unreachable
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

declare i32 @pyptx.barrier(i32, i1) #2

attributes #0 = { nounwind }
attributes #1 = { cold noreturn nounwind }
attributes #2 = { convergent nounwind }

!0 = !{}
!1 = !{!"branch_weights", i32 1048576, i32 1}
