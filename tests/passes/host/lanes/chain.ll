; opt=3
define internal void @k.thread(ptr nonnull align 8 dereferenceable(96) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  %0 = load ptr, ptr %launch, align 8, !invariant.load !0
  %1 = load ptr, ptr %0, align 8, !invariant.load !0, !pyptx.field !0
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %3 = load i32, ptr %2, align 4, !invariant.load !0, !pyptx.field !0
  %4 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %5 = load i64, ptr %4, align 8, !invariant.load !0, !pyptx.field !0
  %6 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %7 = load ptr, ptr %6, align 8, !invariant.load !0, !pyptx.field !0
  %8 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %9 = load i32, ptr %8, align 4, !invariant.load !0, !pyptx.field !0
  %10 = zext nneg i32 %9 to i64
  %11 = getelementptr inbounds nuw i8, ptr %launch, i64 20
  %12 = load i32, ptr %11, align 4, !range !1, !invariant.load !0, !pyptx.field !0
  %13 = zext nneg i32 %12 to i64
  %14 = zext nneg i32 %bx to i64
  %15 = mul nuw nsw i64 %14, %13
  %16 = zext nneg i32 %tx to i64
  %17 = add nuw nsw i64 %15, %16
  %18 = icmp samesign ult i64 %17, %10
  br i1 %18, label %ok, label %b5

b2:                                               ; preds = %ok1, %ok
  %19 = phi i32 [ %28, %ok ], [ %32, %ok1 ]
  %20 = phi i64 [ 0, %ok ], [ %29, %ok1 ]
  %21 = icmp slt i64 %20, %5
  br i1 %21, label %b3, label %ok3

b3:                                               ; preds = %b2
  %22 = mul i32 %19, 5
  %23 = add i32 %22, 3
  %24 = and i32 %23, 31
  %25 = zext nneg i32 %24 to i64
  %26 = icmp ult i32 %24, %3
  br i1 %26, label %ok1, label %stop2, !prof !2

b5:                                               ; preds = %ok3, %entry
  ret void

ok:                                               ; preds = %entry
  %27 = getelementptr inbounds nuw i32, ptr %7, i64 %17
  %28 = load i32, ptr %27, align 4
  br label %b2

ok1:                                              ; preds = %b3
  %29 = add nuw nsw i64 %20, 1
  %30 = getelementptr inbounds nuw i32, ptr %1, i64 %25
  %31 = load i32, ptr %30, align 4
  %32 = xor i32 %31, 1
  br label %b2

stop2:                                            ; preds = %b3
  %.lcssa6 = phi i64 [ %25, %b3 ]
  %33 = zext nneg i32 %3 to i64
  call void @rt_host_trap_in_line(ptr %launch, i32 1, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %.lcssa6, i64 %33, i64 0, i64 0)
  unreachable

ok3:                                              ; preds = %b2
  %.lcssa = phi i32 [ %19, %b2 ]
  store i32 %.lcssa, ptr %27, align 4
  br label %b5
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

declare void @rt_host_trap_in_line(ptr, i32, i32, i32, i32, i32, i32, i64, i64, i64, i64) #2

attributes #0 = { alwaysinline nounwind }
attributes #1 = { cold noreturn nounwind }
attributes #2 = { cold noreturn }

!0 = !{}
!1 = !{i32 1, i32 1025}
!2 = !{!"branch_weights", i32 1048576, i32 1}
