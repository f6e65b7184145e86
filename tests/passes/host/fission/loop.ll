; shared=256
define internal void @k.thread(ptr nonnull align 8 dereferenceable(72) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  %0 = load ptr, ptr %launch, align 8, !invariant.load !0
  %1 = load ptr, ptr %0, align 8, !invariant.load !0, !pyptx.field !0
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %3 = load i32, ptr %2, align 4, !invariant.load !0, !pyptx.field !0
  %4 = getelementptr inbounds nuw i8, ptr %0, i64 12
  %5 = load i32, ptr %4, align 4, !invariant.load !0, !pyptx.field !0
  %6 = getelementptr inbounds nuw i8, ptr %launch, i64 40
  %7 = load ptr, ptr %6, align 8, !invariant.load !0, !pyptx.field !0
  %8 = zext nneg i32 %tx to i64
  %9 = sext i32 %5 to i64
  br label %b1

b1:                                               ; preds = %ok8, %entry
  %10 = phi i64 [ 0, %entry ], [ %12, %ok8 ]
  %11 = icmp slt i64 %10, %9
  br i1 %11, label %b2, label %b3

b2:                                               ; preds = %b1
  %12 = add nuw nsw i64 %10, 1
  %13 = icmp ult i32 %tx, %3
  br i1 %13, label %ok, label %stop, !prof !1

b3:                                               ; preds = %b1
  ret void

ok:                                               ; preds = %b2
  %14 = getelementptr inbounds nuw float, ptr %1, i64 %8
  %15 = icmp ult i32 %tx, 64
  br i1 %15, label %ok2, label %stop3, !prof !1

stop:                                             ; preds = %b2
  %16 = zext nneg i32 %3 to i64
  call void @rt_host_trap(ptr nonnull %launch, i32 0, i64 %block, i32 %t, i64 %8, i64 %16, i64 0, i64 0)
  unreachable

ok2:                                              ; preds = %ok
  %17 = load float, ptr %14, align 4
  %18 = getelementptr inbounds nuw float, ptr %7, i64 %8
  store float %17, ptr %18, align 4
  %19 = call i32 @pyptx.barrier(i32 0, i1 false)
  %20 = icmp samesign ult i64 %10, 64
  br i1 %20, label %ok8, label %stop7, !prof !1

stop3:                                            ; preds = %ok
  call void @rt_host_trap(ptr nonnull %launch, i32 1, i64 %block, i32 %t, i64 %8, i64 64, i64 0, i64 0)
  unreachable

stop7:                                            ; preds = %ok2
  %.lcssa12 = phi i64 [ %10, %ok2 ]
  call void @rt_host_trap(ptr nonnull %launch, i32 3, i64 %block, i32 %t, i64 %.lcssa12, i64 64, i64 0, i64 0)
  unreachable

ok8:                                              ; preds = %ok2
  %21 = load float, ptr %14, align 4
  %22 = getelementptr inbounds nuw float, ptr %7, i64 %10
  %23 = load float, ptr %22, align 4
  %24 = fadd contract float %21, %23
  store float %24, ptr %14, align 4
  %25 = call i32 @pyptx.barrier(i32 0, i1 false)
  br label %b1
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

declare i32 @pyptx.barrier(i32, i1) #2

attributes #0 = { nounwind }
attributes #1 = { cold noreturn nounwind }
attributes #2 = { convergent nounwind }

!0 = !{}
!1 = !{!"branch_weights", i32 1048576, i32 1}
