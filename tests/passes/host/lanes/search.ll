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
  %10 = getelementptr inbounds nuw i8, ptr %launch, i64 20
  %11 = load i32, ptr %10, align 4, !range !1, !invariant.load !0, !pyptx.field !0
  %12 = zext nneg i32 %11 to i64
  %13 = zext nneg i32 %bx to i64
  %14 = mul nuw nsw i64 %13, %12
  %15 = zext nneg i32 %tx to i64
  %16 = add nuw nsw i64 %14, %15
  %17 = icmp samesign ult i64 %16, %4
  br i1 %17, label %ok, label %b7

b3:                                               ; preds = %b3.preheader, %b5
  %18 = phi i64 [ %21, %b5 ], [ %16, %b3.preheader ]
  %19 = icmp slt i64 %18, %4
  br i1 %19, label %b4, label %b6

b4:                                               ; preds = %b3
  %20 = icmp ult i64 %18, %4
  br i1 %20, label %ok3, label %stop2, !prof !2

b5:                                               ; preds = %ok3
  %21 = add i64 %18, 1
  br label %b3

b6:                                               ; preds = %ok3, %b3
  %.lcssa = phi i64 [ %18, %ok3 ], [ %18, %b3 ]
  %22 = icmp samesign ult i64 %16, %9
  br i1 %22, label %ok5, label %stop6, !prof !2

b7:                                               ; preds = %ok5, %ok, %entry
  ret void

ok:                                               ; preds = %entry
  %23 = getelementptr inbounds nuw i8, ptr %1, i64 %16
  %24 = load i8, ptr %23, align 1
  %.not = icmp eq i8 %24, 0
  br i1 %.not, label %b7, label %b3.preheader

b3.preheader:                                     ; preds = %ok
  br label %b3

stop2:                                            ; preds = %b4
  %.lcssa7 = phi i64 [ %18, %b4 ]
  call void @rt_host_trap_in_line(ptr %launch, i32 1, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %.lcssa7, i64 %4, i64 0, i64 0)
  unreachable

ok3:                                              ; preds = %b4
  %25 = getelementptr inbounds i8, ptr %1, i64 %18
  %26 = load i8, ptr %25, align 1
  %27 = load i8, ptr %23, align 1
  %28 = icmp eq i8 %26, %27
  br i1 %28, label %b5, label %b6

ok5:                                              ; preds = %b6
  %29 = trunc i64 %.lcssa to i32
  %30 = getelementptr inbounds nuw i32, ptr %6, i64 %16
  store i32 %29, ptr %30, align 4
  br label %b7

stop6:                                            ; preds = %b6
  call void @rt_host_trap_in_line(ptr %launch, i32 3, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %16, i64 %9, i64 0, i64 0)
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
