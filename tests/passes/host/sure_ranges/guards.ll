; opt=3
; Of two indices that go up together the second has no guard of its own: in range where it begins between 0 and the first.
define internal void @k.thread(ptr nonnull align 8 dereferenceable(96) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  %0 = load ptr, ptr %launch, align 8, !invariant.load !0
  %1 = load ptr, ptr %0, align 8, !invariant.load !0, !pyptx.field !0
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %3 = load i32, ptr %2, align 4, !invariant.load !0, !pyptx.field !0
  %4 = zext nneg i32 %3 to i64
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %6 = load ptr, ptr %5, align 8, !invariant.load !0, !pyptx.field !0
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %8 = load i32, ptr %7, align 4, !invariant.load !0, !pyptx.field !0
  %9 = zext nneg i32 %8 to i64
  %10 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %11 = load i64, ptr %10, align 8, !invariant.load !0, !pyptx.field !0
  %12 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %13 = load i32, ptr %12, align 4, !invariant.load !0, !pyptx.field !0
  %14 = zext nneg i32 %13 to i64
  %15 = getelementptr inbounds nuw i8, ptr %launch, i64 20
  %16 = load i32, ptr %15, align 4, !range !1, !invariant.load !0, !pyptx.field !0
  %17 = zext nneg i32 %16 to i64
  %18 = zext nneg i32 %bx to i64
  %19 = mul nuw nsw i64 %18, %17
  %20 = zext nneg i32 %tx to i64
  %21 = add nuw nsw i64 %19, %20
  %22 = icmp samesign ult i64 %21, %9
  br i1 %22, label %ok, label %stop, !prof !2

b1:                                               ; preds = %b4, %ok
  %23 = phi i64 [ 0, %ok ], [ %28, %b4 ]
  %24 = icmp slt i64 %23, %11
  br i1 %24, label %b2, label %b5

b2:                                               ; preds = %b1
  %25 = add i64 %21, %23
  %26 = icmp slt i64 %25, %4
  br i1 %26, label %b3, label %b5

b3:                                               ; preds = %b2
  %27 = icmp ult i64 %25, %4
  br i1 %27, label %ok1, label %stop2, !prof !2

b4:                                               ; preds = %ok3
  %28 = add i64 %23, 1
  br label %b1

b5:                                               ; preds = %ok3, %b2, %b1
  %.lcssa9 = phi i64 [ %23, %ok3 ], [ %23, %b2 ], [ %23, %b1 ]
  %29 = icmp samesign ult i64 %21, %14
  br i1 %29, label %ok5, label %stop6, !prof !2

ok:                                               ; preds = %entry
  %30 = getelementptr inbounds nuw i32, ptr %6, i64 %21
  %31 = load i32, ptr %30, align 4
  br label %b1

stop:                                             ; preds = %entry
  call void @rt_host_trap_in_line(ptr %launch, i32 0, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %21, i64 %9, i64 0, i64 0)
  unreachable

ok1:                                              ; preds = %b3
  %32 = trunc i64 %23 to i32
  %33 = add i32 %31, %32
  %34 = sext i32 %33 to i64
  %35 = icmp slt i32 %33, 0
  %36 = select i1 %35, i64 %4, i64 0
  %37 = add nsw i64 %36, %34
  %38 = icmp ult i64 %37, %4
  br i1 %38, label %ok3, label %stop4, !prof !2

stop2:                                            ; preds = %b3
  %.lcssa = phi i64 [ %25, %b3 ]
  %39 = icmp slt i64 %.lcssa, 0
  %40 = select i1 %39, i64 %4, i64 0
  %41 = sub nuw i64 %.lcssa, %40
  call void @rt_host_trap_in_line(ptr %launch, i32 1, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %41, i64 %4, i64 0, i64 0)
  unreachable

ok3:                                              ; preds = %ok1
  %42 = getelementptr inbounds i8, ptr %1, i64 %25
  %43 = load i8, ptr %42, align 1
  %44 = getelementptr inbounds i8, ptr %1, i64 %37
  %45 = load i8, ptr %44, align 1
  %46 = icmp eq i8 %43, %45
  br i1 %46, label %b4, label %b5

stop4:                                            ; preds = %ok1
  %.lcssa8 = phi i64 [ %37, %ok1 ]
  %47 = icmp slt i64 %.lcssa8, 0
  %48 = select i1 %47, i64 %4, i64 0
  %49 = sub nuw nsw i64 %.lcssa8, %48
  call void @rt_host_trap_in_line(ptr %launch, i32 2, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %49, i64 %4, i64 0, i64 0)
  unreachable

ok5:                                              ; preds = %b5
  %50 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %51 = load ptr, ptr %50, align 8, !invariant.load !0, !pyptx.field !0
  %52 = trunc i64 %.lcssa9 to i32
  %53 = getelementptr inbounds nuw i32, ptr %51, i64 %21
  store i32 %52, ptr %53, align 4
  ret void

stop6:                                            ; preds = %b5
  call void @rt_host_trap_in_line(ptr %launch, i32 3, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %21, i64 %14, i64 0, i64 0)
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
