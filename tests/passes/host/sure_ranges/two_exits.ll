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
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %8 = load i32, ptr %7, align 4, !invariant.load !0, !pyptx.field !0
  %9 = zext nneg i32 %8 to i64
  %10 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %11 = load ptr, ptr %10, align 8, !invariant.load !0, !pyptx.field !0
  %12 = getelementptr inbounds nuw i8, ptr %0, i64 40
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
  br i1 %22, label %b1, label %b6

b1:                                               ; preds = %entry
  %23 = icmp samesign ult i64 %21, %4
  br i1 %23, label %ok, label %stop, !prof !2

b2:                                               ; preds = %ok3, %ok1
  %24 = phi i64 [ %39, %ok1 ], [ %41, %ok3 ]
  %25 = icmp slt i64 %24, %40
  br i1 %25, label %b3, label %b5.loopexit

b3:                                               ; preds = %b2
  %26 = icmp slt i64 %24, 0
  %27 = select i1 %26, i64 %9, i64 0
  %28 = add i64 %24, %27
  %29 = icmp ult i64 %28, %9
  br i1 %29, label %ok3, label %stop4, !prof !2

b4:                                               ; preds = %ok3
  %.lcssa8 = phi i64 [ %24, %ok3 ]
  %30 = trunc i64 %.lcssa8 to i32
  br label %b5

b5.loopexit:                                      ; preds = %b2
  br label %b5

b5:                                               ; preds = %b5.loopexit, %b4
  %31 = phi i32 [ %30, %b4 ], [ -1, %b5.loopexit ]
  %32 = icmp samesign ult i64 %21, %14
  br i1 %32, label %ok5, label %stop6, !prof !2

b6:                                               ; preds = %ok5, %entry
  ret void

ok:                                               ; preds = %b1
  %33 = add nuw nsw i64 %21, 1
  %34 = icmp samesign ult i64 %33, %4
  br i1 %34, label %ok1, label %stop2, !prof !2

stop:                                             ; preds = %b1
  call void @rt_host_trap_in_line(ptr %launch, i32 0, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %21, i64 %4, i64 0, i64 0)
  unreachable

ok1:                                              ; preds = %ok
  %35 = getelementptr inbounds nuw i32, ptr %1, i64 %21
  %36 = load i32, ptr %35, align 4
  %37 = getelementptr inbounds nuw i32, ptr %1, i64 %33
  %38 = load i32, ptr %37, align 4
  %39 = sext i32 %36 to i64
  %40 = sext i32 %38 to i64
  br label %b2

stop2:                                            ; preds = %ok
  call void @rt_host_trap_in_line(ptr %launch, i32 1, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %33, i64 %4, i64 0, i64 0)
  unreachable

ok3:                                              ; preds = %b3
  %41 = add nsw i64 %24, 1
  %42 = getelementptr inbounds i32, ptr %6, i64 %28
  %43 = load i32, ptr %42, align 4
  %44 = sext i32 %43 to i64
  %45 = icmp eq i64 %21, %44
  br i1 %45, label %b4, label %b2

stop4:                                            ; preds = %b3
  %.lcssa9 = phi i64 [ %28, %b3 ]
  %46 = icmp slt i64 %.lcssa9, 0
  %47 = select i1 %46, i64 %9, i64 0
  %48 = sub nuw i64 %.lcssa9, %47
  call void @rt_host_trap_in_line(ptr %launch, i32 2, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %48, i64 %9, i64 0, i64 0)
  unreachable

ok5:                                              ; preds = %b5
  %49 = getelementptr inbounds nuw i32, ptr %11, i64 %21
  store i32 %31, ptr %49, align 4
  br label %b6

stop6:                                            ; preds = %b5
  call void @rt_host_trap_in_line(ptr %launch, i32 3, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %21, i64 %14, i64 0, i64 0)
  unreachable
}

declare void @rt_host_trap_in_line(ptr, i32, i32, i32, i32, i32, i32, i64, i64, i64, i64) #2

attributes #0 = { alwaysinline nounwind }
attributes #1 = { cold noreturn nounwind }
attributes #2 = { cold noreturn }

!0 = !{}
!1 = !{i32 1, i32 1025}
!2 = !{!"branch_weights", i32 1048576, i32 1}
