; shared=256 before=fission
; The first thread's guard (t >= 1, which is t != 0) divides one vector: the others have no mask. What
; is read and written is fetched for the next block.
define internal void @k.thread(ptr nonnull align 8 dereferenceable(96) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  %0 = load ptr, ptr %launch, align 8, !invariant.load !0
  %1 = load ptr, ptr %0, align 8, !invariant.load !0, !pyptx.field !0
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %3 = load i32, ptr %2, align 4, !invariant.load !0, !pyptx.field !0
  %4 = getelementptr inbounds nuw i8, ptr %0, i64 12
  %5 = load i32, ptr %4, align 4, !invariant.load !0, !pyptx.field !0
  %6 = zext nneg i32 %5 to i64
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %8 = load i32, ptr %7, align 4, !invariant.load !0, !pyptx.field !0
  %9 = getelementptr inbounds nuw i8, ptr %0, i64 28
  %10 = load i32, ptr %9, align 4, !invariant.load !0, !pyptx.field !0
  %11 = zext nneg i32 %10 to i64
  %12 = getelementptr inbounds nuw i8, ptr %launch, i64 40
  %13 = load ptr, ptr %12, align 8, !invariant.load !0, !pyptx.field !0
  %14 = zext nneg i32 %bx to i64
  %15 = zext nneg i32 %tx to i64
  %16 = icmp ult i32 %bx, %3
  br i1 %16, label %ok, label %stop, !prof !1

b2:                                               ; preds = %ok7, %ok3
  %17 = phi float [ %28, %ok3 ], [ %31, %ok7 ]
  %18 = icmp ult i32 %bx, %8
  br i1 %18, label %ok9, label %stop10, !prof !1

ok:                                               ; preds = %entry
  %19 = icmp ult i32 %tx, %5
  br i1 %19, label %ok1, label %stop2, !prof !1

stop:                                             ; preds = %entry
  %20 = zext nneg i32 %3 to i64
  call void @rt_host_trap(ptr nonnull %launch, i32 0, i64 %block, i32 %t, i64 %14, i64 %20, i64 0, i64 0)
  unreachable

ok1:                                              ; preds = %ok
  %21 = icmp ult i32 %tx, 64
  br i1 %21, label %ok3, label %stop4, !prof !1

stop2:                                            ; preds = %ok
  call void @rt_host_trap(ptr nonnull %launch, i32 1, i64 %block, i32 %t, i64 %15, i64 %6, i64 0, i64 0)
  unreachable

ok3:                                              ; preds = %ok1
  %22 = mul nuw nsw i64 %14, %6
  %23 = getelementptr inbounds nuw float, ptr %1, i64 %22
  %24 = getelementptr inbounds nuw float, ptr %23, i64 %15
  %25 = load float, ptr %24, align 4
  %26 = getelementptr inbounds nuw float, ptr %13, i64 %15
  store float %25, ptr %26, align 4
  %27 = call i32 @pyptx.barrier(i32 0, i1 false)
  %28 = load float, ptr %26, align 4
  %.not = icmp eq i32 %tx, 0
  br i1 %.not, label %b2, label %ok7

stop4:                                            ; preds = %ok1
  call void @rt_host_trap(ptr nonnull %launch, i32 2, i64 %block, i32 %t, i64 %15, i64 64, i64 0, i64 0)
  unreachable

ok7:                                              ; preds = %ok3
  %29 = getelementptr i8, ptr %26, i64 -4
  %30 = load float, ptr %29, align 4
  %31 = fadd contract float %28, %30
  br label %b2

ok9:                                              ; preds = %b2
  %32 = icmp ult i32 %tx, %10
  br i1 %32, label %ok11, label %stop12, !prof !1

stop10:                                           ; preds = %b2
  %33 = zext nneg i32 %8 to i64
  call void @rt_host_trap(ptr nonnull %launch, i32 5, i64 %block, i32 %t, i64 %14, i64 %33, i64 0, i64 0)
  unreachable

ok11:                                             ; preds = %ok9
  %34 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %35 = load ptr, ptr %34, align 8, !invariant.load !0, !pyptx.field !0
  %36 = mul nuw nsw i64 %14, %11
  %37 = getelementptr inbounds nuw float, ptr %35, i64 %36
  %38 = getelementptr inbounds nuw float, ptr %37, i64 %15
  store float %17, ptr %38, align 4
  ret void

stop12:                                           ; preds = %ok9
  call void @rt_host_trap(ptr nonnull %launch, i32 6, i64 %block, i32 %t, i64 %15, i64 %11, i64 0, i64 0)
  unreachable
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

declare i32 @pyptx.barrier(i32, i1) #2

attributes #0 = { nounwind }
attributes #1 = { cold noreturn nounwind }
attributes #2 = { convergent nounwind }

!0 = !{}
!1 = !{!"branch_weights", i32 1048576, i32 1}
