; shared=4096 before=fission
define internal void @k.thread(ptr nonnull align 8 dereferenceable(96) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  %0 = load ptr, ptr %launch, align 8, !invariant.load !0
  %1 = load ptr, ptr %0, align 8, !invariant.load !0, !pyptx.field !0
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %3 = load i32, ptr %2, align 4, !invariant.load !0, !pyptx.field !0
  %4 = zext nneg i32 %3 to i64
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 12
  %6 = load i32, ptr %5, align 4, !invariant.load !0, !pyptx.field !0
  %7 = zext nneg i32 %6 to i64
  %8 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %9 = load i32, ptr %8, align 4, !invariant.load !0, !pyptx.field !0
  %10 = zext nneg i32 %9 to i64
  %11 = getelementptr inbounds nuw i8, ptr %0, i64 28
  %12 = load i32, ptr %11, align 4, !invariant.load !0, !pyptx.field !0
  %13 = zext nneg i32 %12 to i64
  %14 = getelementptr inbounds nuw i8, ptr %launch, i64 40
  %15 = load ptr, ptr %14, align 8, !invariant.load !0, !pyptx.field !0
  %16 = zext nneg i32 %tx to i64
  %17 = zext nneg i32 %ty to i64
  %18 = zext nneg i32 %bx to i64
  %19 = shl nuw nsw i64 %18, 5
  %20 = add nuw nsw i64 %19, %16
  %21 = zext nneg i32 %by to i64
  %22 = shl nuw nsw i64 %21, 5
  %23 = add nuw nsw i64 %22, %17
  br label %b1

b1:                                               ; preds = %ok5, %entry
  %24 = phi i64 [ 0, %entry ], [ %26, %ok5 ]
  %25 = icmp samesign ult i64 %24, 32
  br i1 %25, label %b2, label %b3

b2:                                               ; preds = %b1
  %26 = add nuw nsw i64 %24, 8
  %27 = add nuw nsw i64 %23, %24
  %28 = icmp samesign ult i64 %27, %4
  br i1 %28, label %ok, label %stop, !prof !1

b3:                                               ; preds = %b1
  %29 = call i32 @pyptx.barrier(i32 0, i1 false)
  %30 = icmp ult i32 %tx, 32
  br i1 %30, label %ok7, label %stop8, !prof !1

ok:                                               ; preds = %b2
  %31 = icmp samesign ult i64 %20, %7
  br i1 %31, label %ok1, label %stop2, !prof !1

stop:                                             ; preds = %b2
  %.lcssa = phi i64 [ %27, %b2 ]
  call void @rt_host_trap(ptr nonnull %launch, i32 0, i64 %block, i32 %t, i64 %.lcssa, i64 %4, i64 0, i64 0)
  unreachable

ok1:                                              ; preds = %ok
  %32 = mul nuw nsw i64 %27, %7
  %33 = getelementptr inbounds nuw float, ptr %1, i64 %32
  %34 = getelementptr inbounds nuw float, ptr %33, i64 %20
  %35 = load float, ptr %34, align 4
  %36 = add nuw nsw i64 %24, %17
  %37 = icmp samesign ult i64 %36, 32
  br i1 %37, label %ok3, label %stop4, !prof !1

stop2:                                            ; preds = %ok
  call void @rt_host_trap(ptr nonnull %launch, i32 1, i64 %block, i32 %t, i64 %20, i64 %7, i64 0, i64 0)
  unreachable

ok3:                                              ; preds = %ok1
  %38 = icmp ult i32 %tx, 32
  br i1 %38, label %ok5, label %stop6, !prof !1

stop4:                                            ; preds = %ok1
  %.lcssa19 = phi i64 [ %36, %ok1 ]
  call void @rt_host_trap(ptr nonnull %launch, i32 2, i64 %block, i32 %t, i64 %.lcssa19, i64 32, i64 0, i64 0)
  unreachable

ok5:                                              ; preds = %ok3
  %.idx15 = shl nuw nsw i64 %36, 7
  %39 = getelementptr inbounds nuw i8, ptr %15, i64 %.idx15
  %40 = getelementptr inbounds nuw float, ptr %39, i64 %16
  store float %35, ptr %40, align 4
  br label %b1

stop6:                                            ; preds = %ok3
  call void @rt_host_trap(ptr nonnull %launch, i32 3, i64 %block, i32 %t, i64 %16, i64 32, i64 0, i64 0)
  unreachable

ok7:                                              ; preds = %b3
  %41 = icmp ult i32 %ty, 32
  br i1 %41, label %ok9, label %stop10, !prof !1

stop8:                                            ; preds = %b3
  call void @rt_host_trap(ptr nonnull %launch, i32 4, i64 %block, i32 %t, i64 %16, i64 32, i64 0, i64 0)
  unreachable

ok9:                                              ; preds = %ok7
  %.idx = shl nuw nsw i64 %16, 7
  %42 = getelementptr inbounds nuw i8, ptr %15, i64 %.idx
  %43 = getelementptr inbounds nuw float, ptr %42, i64 %17
  %44 = load float, ptr %43, align 4
  %45 = icmp samesign ult i64 %23, %10
  br i1 %45, label %ok11, label %stop12, !prof !1

stop10:                                           ; preds = %ok7
  call void @rt_host_trap(ptr nonnull %launch, i32 5, i64 %block, i32 %t, i64 %17, i64 32, i64 0, i64 0)
  unreachable

ok11:                                             ; preds = %ok9
  %46 = icmp samesign ult i64 %20, %13
  br i1 %46, label %ok13, label %stop14, !prof !1

stop12:                                           ; preds = %ok9
  call void @rt_host_trap(ptr nonnull %launch, i32 6, i64 %block, i32 %t, i64 %23, i64 %10, i64 0, i64 0)
  unreachable

ok13:                                             ; preds = %ok11
  %47 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %48 = load ptr, ptr %47, align 8, !invariant.load !0, !pyptx.field !0
  %49 = mul nuw nsw i64 %23, %13
  %50 = getelementptr inbounds nuw float, ptr %48, i64 %49
  %51 = getelementptr inbounds nuw float, ptr %50, i64 %20
  store float %44, ptr %51, align 4
  ret void

stop14:                                           ; preds = %ok11
  call void @rt_host_trap(ptr nonnull %launch, i32 7, i64 %block, i32 %t, i64 %20, i64 %13, i64 0, i64 0)
  unreachable
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

declare i32 @pyptx.barrier(i32, i1) #2

attributes #0 = { nounwind }
attributes #1 = { cold noreturn nounwind }
attributes #2 = { convergent nounwind }

!0 = !{}
!1 = !{!"branch_weights", i32 1048576, i32 1}
