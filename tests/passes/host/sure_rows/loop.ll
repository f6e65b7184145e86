; opt=3 before=lanes,entry
; A thread with a loop: the rest is a small part, and nothing is changed.
define internal void @k.thread(ptr nonnull align 8 dereferenceable(96) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  %0 = load ptr, ptr %launch, align 8, !invariant.load !0
  %1 = load ptr, ptr %0, align 8, !invariant.load !0, !pyptx.field !0
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %3 = load ptr, ptr %2, align 8, !invariant.load !0, !pyptx.field !0
  %4 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %5 = load i32, ptr %4, align 4, !invariant.load !0, !pyptx.field !0
  %6 = zext nneg i32 %5 to i64
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %8 = load ptr, ptr %7, align 8, !invariant.load !0, !pyptx.field !0
  %9 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %10 = load i32, ptr %9, align 4, !invariant.load !0, !pyptx.field !0
  %11 = zext nneg i32 %10 to i64
  %12 = getelementptr inbounds nuw i8, ptr %0, i64 8
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
  br i1 %22, label %ok, label %b5

b2:                                               ; preds = %ok1, %ok
  %23 = phi i8 [ %29, %ok ], [ %31, %ok1 ]
  %24 = zext i8 %23 to i64
  %25 = icmp samesign ult i64 %24, %6
  br i1 %25, label %ok1, label %stop2, !prof !2

b4:                                               ; preds = %ok1
  %.lcssa9 = phi i8 [ %23, %ok1 ]
  %26 = mul nuw nsw i64 %21, 3
  %27 = icmp samesign ult i64 %26, %11
  br i1 %27, label %ok5, label %stop6, !prof !2

b5:                                               ; preds = %ok5, %entry
  ret void

ok:                                               ; preds = %entry
  %28 = getelementptr inbounds nuw i8, ptr %1, i64 %21
  %29 = load i8, ptr %28, align 1
  br label %b2

ok1:                                              ; preds = %b2
  %30 = getelementptr inbounds nuw i8, ptr %3, i64 %24
  %31 = load i8, ptr %30, align 1
  %32 = icmp ugt i8 %31, %23
  br i1 %32, label %b2, label %b4

stop2:                                            ; preds = %b2
  %.lcssa = phi i64 [ %24, %b2 ]
  call void @rt_host_trap_in_line(ptr %launch, i32 1, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %.lcssa, i64 %6, i64 0, i64 0)
  unreachable

ok5:                                              ; preds = %b4
  %33 = getelementptr inbounds nuw i8, ptr %8, i64 %26
  store i8 %.lcssa9, ptr %33, align 1
  br label %b5

stop6:                                            ; preds = %b4
  call void @rt_host_trap_in_line(ptr %launch, i32 3, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %26, i64 %11, i64 0, i64 0)
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
