; opt=3
define internal void @k.thread(ptr nonnull align 8 dereferenceable(96) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  %0 = load ptr, ptr %launch, align 8, !invariant.load !0
  %1 = load ptr, ptr %0, align 8, !invariant.load !0, !pyptx.field !0
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %3 = load i32, ptr %2, align 4, !invariant.load !0, !pyptx.field !0
  %4 = zext nneg i32 %3 to i64
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %6 = load ptr, ptr %5, align 8, !invariant.load !0, !pyptx.field !0
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %8 = load ptr, ptr %7, align 8, !invariant.load !0, !pyptx.field !0
  %9 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %10 = load i32, ptr %9, align 4, !invariant.load !0, !pyptx.field !0
  %11 = zext nneg i32 %10 to i64
  %12 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %13 = load i32, ptr %12, align 4, !invariant.load !0, !pyptx.field !0
  %14 = zext nneg i32 %13 to i64
  %15 = getelementptr inbounds nuw i8, ptr %launch, i64 20
  %16 = load i32, ptr %15, align 4, !range !1, !invariant.load !0, !pyptx.field !0
  %17 = zext nneg i32 %16 to i64
  %18 = zext nneg i32 %bx to i64
  %19 = mul nuw nsw i64 %18, %17
  %20 = zext nneg i32 %tx to i64
  %21 = add nuw nsw i64 %19, %20
  %22 = icmp samesign ult i64 %21, %14
  br i1 %22, label %ok, label %b6

b2:                                               ; preds = %b4, %ok
  %23 = phi i64 [ 0, %ok ], [ %32, %b4 ]
  %24 = phi i32 [ %35, %ok ], [ %31, %b4 ]
  %25 = icmp slt i32 %24, %3
  br i1 %25, label %b3, label %b5

b3:                                               ; preds = %b2
  %26 = sext i32 %24 to i64
  %27 = icmp slt i32 %24, 0
  %28 = select i1 %27, i64 %4, i64 0
  %29 = add nsw i64 %28, %26
  %30 = icmp ult i64 %29, %4
  br i1 %30, label %ok1, label %stop2, !prof !2

b4:                                               ; preds = %ok1
  %31 = add i32 %24, 1
  %32 = add i64 %23, 1
  br label %b2

b5:                                               ; preds = %ok1, %b2
  %.lcssa5 = phi i64 [ %23, %ok1 ], [ %23, %b2 ]
  %33 = icmp samesign ult i64 %21, %11
  br i1 %33, label %ok3, label %stop4, !prof !2

b6:                                               ; preds = %ok3, %entry
  ret void

ok:                                               ; preds = %entry
  %34 = getelementptr inbounds nuw i32, ptr %6, i64 %21
  %35 = load i32, ptr %34, align 4
  br label %b2

ok1:                                              ; preds = %b3
  %36 = getelementptr inbounds i8, ptr %1, i64 %29
  %37 = load i8, ptr %36, align 1
  %.not = icmp eq i8 %37, 0
  br i1 %.not, label %b5, label %b4

stop2:                                            ; preds = %b3
  %.lcssa = phi i64 [ %29, %b3 ]
  %38 = icmp slt i64 %.lcssa, 0
  %39 = select i1 %38, i64 %4, i64 0
  %40 = sub nuw nsw i64 %.lcssa, %39
  call void @rt_host_trap_in_line(ptr %launch, i32 1, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %40, i64 %4, i64 0, i64 0)
  unreachable

ok3:                                              ; preds = %b5
  %41 = trunc i64 %.lcssa5 to i32
  %42 = getelementptr inbounds nuw i32, ptr %8, i64 %21
  store i32 %41, ptr %42, align 4
  br label %b6

stop4:                                            ; preds = %b5
  call void @rt_host_trap_in_line(ptr %launch, i32 2, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %21, i64 %11, i64 0, i64 0)
  unreachable
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

declare void @rt_host_trap_in_line(ptr, i32, i32, i32, i32, i32, i32, i64, i64, i64, i64) #2

attributes #0 = { alwaysinline nounwind }
attributes #1 = { cold noreturn nounwind }
attributes #2 = { cold noreturn }

!0 = !{}
!1 = !{i32 1, i32 1025}
!2 = !{!"branch_weights", i32 1048576, i32 1}
