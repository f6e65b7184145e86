; shared=256 before=fission
define internal void @k.thread(ptr nonnull align 8 dereferenceable(72) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  %0 = load ptr, ptr %launch, align 8, !invariant.load !0
  %1 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %2 = load i32, ptr %1, align 4, !invariant.load !0, !pyptx.field !0
  %3 = getelementptr inbounds nuw i8, ptr %launch, i64 40
  %4 = load ptr, ptr %3, align 8, !invariant.load !0, !pyptx.field !0
  %5 = zext nneg i32 %tx to i64
  %6 = icmp ult i32 %tx, %2
  br i1 %6, label %ok, label %stop, !prof !1

b1:                                               ; preds = %ok2
  %7 = call i32 @pyptx.barrier(i32 0, i1 false)
  br label %ok8

ok:                                               ; preds = %entry
  %8 = load ptr, ptr %0, align 8, !invariant.load !0, !pyptx.field !0
  %9 = getelementptr inbounds nuw float, ptr %8, i64 %5
  %10 = icmp ult i32 %tx, 64
  br i1 %10, label %ok2, label %stop3, !prof !1

stop:                                             ; preds = %entry
  %11 = zext nneg i32 %2 to i64
  call void @rt_host_trap(ptr nonnull %launch, i32 0, i64 %block, i32 %t, i64 %5, i64 %11, i64 0, i64 0)
  unreachable

ok2:                                              ; preds = %ok
  %12 = load float, ptr %9, align 4
  %13 = getelementptr inbounds nuw float, ptr %4, i64 %5
  store float %12, ptr %13, align 4
  %14 = load float, ptr %9, align 4
  %15 = fcmp ogt float %14, 0.000000e+00
  br i1 %15, label %b1, label %ok8

stop3:                                            ; preds = %ok
  call void @rt_host_trap(ptr nonnull %launch, i32 1, i64 %block, i32 %t, i64 %5, i64 64, i64 0, i64 0)
  unreachable

ok8:                                              ; preds = %b1, %ok2
  %16 = sub nuw nsw i64 63, %5
  %17 = getelementptr inbounds nuw float, ptr %4, i64 %16
  %18 = load float, ptr %17, align 4
  store float %18, ptr %9, align 4
  ret void
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

declare i32 @pyptx.barrier(i32, i1) #2

attributes #0 = { nounwind }
attributes #1 = { cold noreturn nounwind }
attributes #2 = { convergent nounwind }

!0 = !{}
!1 = !{!"branch_weights", i32 1048576, i32 1}
