; opt=3
define internal void @k.thread(ptr nonnull align 8 dereferenceable(96) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  %0 = load ptr, ptr %launch, align 8, !invariant.load !0
  %1 = load ptr, ptr %0, align 8, !invariant.load !0, !pyptx.field !0
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %3 = load i32, ptr %2, align 4, !invariant.load !0, !pyptx.field !0
  %4 = zext nneg i32 %3 to i64
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %6 = load i32, ptr %5, align 4, !invariant.load !0, !pyptx.field !0
  %7 = zext nneg i32 %6 to i64
  %8 = getelementptr inbounds nuw i8, ptr %launch, i64 20
  %9 = load i32, ptr %8, align 4, !range !1, !invariant.load !0, !pyptx.field !0
  %10 = zext nneg i32 %9 to i64
  %11 = zext nneg i32 %bx to i64
  %12 = mul nuw nsw i64 %11, %10
  %13 = zext nneg i32 %tx to i64
  %14 = add nuw nsw i64 %12, %13
  %15 = icmp samesign ult i64 %14, %4
  br i1 %15, label %ok, label %stop, !prof !2

b1:                                               ; preds = %b2, %ok
  %16 = phi i64 [ 0, %ok ], [ %20, %b2 ]
  %17 = phi i64 [ %23, %ok ], [ %19, %b2 ]
  %.not = icmp eq i64 %17, 0
  br i1 %.not, label %b3, label %b2

b2:                                               ; preds = %b1
  %18 = add i64 %17, -1
  %19 = and i64 %17, %18
  %20 = add i64 %16, 1
  br label %b1

b3:                                               ; preds = %b1
  %.lcssa = phi i64 [ %16, %b1 ]
  %21 = icmp samesign ult i64 %14, %7
  br i1 %21, label %ok1, label %stop2, !prof !2

ok:                                               ; preds = %entry
  %22 = getelementptr inbounds nuw i64, ptr %1, i64 %14
  %23 = load i64, ptr %22, align 8
  br label %b1

stop:                                             ; preds = %entry
  call void @rt_host_trap(ptr nonnull %launch, i32 0, i64 %block, i32 %t, i64 %14, i64 %4, i64 0, i64 0)
  unreachable

ok1:                                              ; preds = %b3
  %24 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %25 = load ptr, ptr %24, align 8, !invariant.load !0, !pyptx.field !0
  %26 = trunc i64 %.lcssa to i32
  %27 = getelementptr inbounds nuw i32, ptr %25, i64 %14
  store i32 %26, ptr %27, align 4
  ret void

stop2:                                            ; preds = %b3
  call void @rt_host_trap(ptr nonnull %launch, i32 1, i64 %block, i32 %t, i64 %14, i64 %7, i64 0, i64 0)
  unreachable
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

attributes #0 = { alwaysinline nounwind }
attributes #1 = { cold noreturn nounwind }

!0 = !{}
!1 = !{i32 1, i32 1025}
!2 = !{!"branch_weights", i32 1048576, i32 1}
