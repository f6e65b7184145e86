; opt=3 shared=84 before=fission
; A tile of 3 x 7: segments for rows of 7 threads, as 8 lanes of which the last rests.
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
  %14 = zext nneg i32 %tx to i64
  %15 = zext nneg i32 %ty to i64
  %16 = icmp ult i32 %ty, %3
  br i1 %16, label %ok, label %stop, !prof !1

ok:                                               ; preds = %entry
  %17 = icmp ult i32 %tx, %5
  br i1 %17, label %ok1, label %stop2, !prof !1

stop:                                             ; preds = %entry
  %18 = zext nneg i32 %3 to i64
  call void @rt_host_trap(ptr nonnull %launch, i32 0, i64 %block, i32 %t, i64 %15, i64 %18, i64 0, i64 0)
  unreachable

ok1:                                              ; preds = %ok
  %19 = mul nuw nsw i64 %15, %6
  %20 = getelementptr inbounds nuw float, ptr %1, i64 %19
  %21 = getelementptr inbounds nuw float, ptr %20, i64 %14
  %22 = load float, ptr %21, align 4
  %23 = icmp ult i32 %ty, 3
  br i1 %23, label %ok3, label %stop4, !prof !1

stop2:                                            ; preds = %ok
  call void @rt_host_trap(ptr nonnull %launch, i32 1, i64 %block, i32 %t, i64 %14, i64 %6, i64 0, i64 0)
  unreachable

ok3:                                              ; preds = %ok1
  %24 = icmp ult i32 %tx, 7
  br i1 %24, label %ok5, label %stop6, !prof !1

stop4:                                            ; preds = %ok1
  call void @rt_host_trap(ptr nonnull %launch, i32 2, i64 %block, i32 %t, i64 %15, i64 3, i64 0, i64 0)
  unreachable

ok5:                                              ; preds = %ok3
  %.idx = mul nuw nsw i64 %15, 28
  %25 = getelementptr inbounds nuw i8, ptr %13, i64 %.idx
  %26 = getelementptr inbounds nuw float, ptr %25, i64 %14
  store float %22, ptr %26, align 4
  %27 = call i32 @pyptx.barrier(i32 0, i1 false)
  %28 = sub nsw i64 6, %14
  %29 = icmp ult i64 %28, 7
  br i1 %29, label %ok9, label %stop10, !prof !1

stop6:                                            ; preds = %ok3
  call void @rt_host_trap(ptr nonnull %launch, i32 3, i64 %block, i32 %t, i64 %14, i64 7, i64 0, i64 0)
  unreachable

ok9:                                              ; preds = %ok5
  %30 = getelementptr inbounds nuw float, ptr %25, i64 %28
  %31 = load float, ptr %30, align 4
  %32 = icmp ult i32 %ty, %8
  br i1 %32, label %ok11, label %stop12, !prof !1

stop10:                                           ; preds = %ok5
  call void @rt_host_trap(ptr nonnull %launch, i32 5, i64 %block, i32 %t, i64 %28, i64 7, i64 0, i64 0)
  unreachable

ok11:                                             ; preds = %ok9
  %33 = icmp ult i32 %tx, %10
  br i1 %33, label %ok13, label %stop14, !prof !1

stop12:                                           ; preds = %ok9
  %34 = zext nneg i32 %8 to i64
  call void @rt_host_trap(ptr nonnull %launch, i32 6, i64 %block, i32 %t, i64 %15, i64 %34, i64 0, i64 0)
  unreachable

ok13:                                             ; preds = %ok11
  %35 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %36 = load ptr, ptr %35, align 8, !invariant.load !0, !pyptx.field !0
  %37 = mul nuw nsw i64 %15, %11
  %38 = getelementptr inbounds nuw float, ptr %36, i64 %37
  %39 = getelementptr inbounds nuw float, ptr %38, i64 %14
  store float %31, ptr %39, align 4
  ret void

stop14:                                           ; preds = %ok11
  call void @rt_host_trap(ptr nonnull %launch, i32 7, i64 %block, i32 %t, i64 %14, i64 %11, i64 0, i64 0)
  unreachable
}

; Function Attrs: cold noreturn nounwind
declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

; Function Attrs: convergent nounwind
declare i32 @pyptx.barrier(i32, i1) #2

attributes #0 = { nounwind }
attributes #1 = { cold noreturn nounwind }
attributes #2 = { convergent nounwind }

!0 = !{}
!1 = !{!"branch_weights", i32 1048576, i32 1}
