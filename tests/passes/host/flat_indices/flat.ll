; opt=3
; The division is left for the message of the first check.
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
  %8 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %9 = load i32, ptr %8, align 4, !invariant.load !0, !pyptx.field !0
  %10 = getelementptr inbounds nuw i8, ptr %launch, i64 20
  %11 = load i32, ptr %10, align 4, !range !1, !invariant.load !0, !pyptx.field !0
  %12 = zext nneg i32 %11 to i64
  %13 = sext i32 %9 to i64
  %14 = zext nneg i32 %tx to i64
  br label %b1

b1:                                               ; preds = %ok3, %entry
  %15 = phi i64 [ %14, %entry ], [ %17, %ok3 ]
  %16 = icmp slt i64 %15, %13
  br i1 %16, label %b2, label %b3

b2:                                               ; preds = %b1
  %17 = add nuw nsw i64 %15, %12
  %18 = icmp eq i32 %6, 0
  %19 = select i1 %18, i64 1, i64 %7
  %20 = udiv i64 %15, %19
  %21 = select i1 %18, i64 0, i64 %20
  %22 = urem i64 %15, %19
  %23 = icmp samesign ult i64 %21, %4
  br i1 %23, label %ok1, label %stop2, !prof !2

b3:                                               ; preds = %b1
  ret void

ok1:                                              ; preds = %b2
  %24 = icmp samesign ult i64 %22, %7
  br i1 %24, label %ok3, label %stop4, !prof !2

stop2:                                            ; preds = %b2
  %.lcssa6 = phi i64 [ %21, %b2 ]
  call void @rt_host_trap(ptr nonnull %launch, i32 1, i64 %block, i32 %t, i64 %.lcssa6, i64 %4, i64 0, i64 0)
  unreachable

ok3:                                              ; preds = %ok1
  %25 = trunc i64 %15 to i32
  %26 = mul nuw nsw i64 %21, %7
  %27 = getelementptr inbounds nuw i32, ptr %1, i64 %26
  %28 = getelementptr inbounds nuw i32, ptr %27, i64 %22
  store i32 %25, ptr %28, align 4
  br label %b1

stop4:                                            ; preds = %ok1
  %.lcssa5 = phi i64 [ %22, %ok1 ]
  call void @rt_host_trap(ptr nonnull %launch, i32 2, i64 %block, i32 %t, i64 %.lcssa5, i64 %7, i64 0, i64 0)
  unreachable
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

attributes #0 = { alwaysinline nounwind }
attributes #1 = { cold noreturn nounwind }

!0 = !{}
!1 = !{i32 1, i32 1025}
!2 = !{!"branch_weights", i32 1048576, i32 1}
