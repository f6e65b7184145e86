; opt=3
; How many elements behind each one are smaller: LLVM makes vectors of the row for one thread, so there are no lanes.
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
  br i1 %17, label %b2.preheader, label %b6

b2.preheader:                                     ; preds = %entry
  br label %b2

b2:                                               ; preds = %b2.preheader, %ok1
  %18 = phi i64 [ %29, %ok1 ], [ 0, %b2.preheader ]
  %.in = phi i64 [ %19, %ok1 ], [ %16, %b2.preheader ]
  %19 = add nuw nsw i64 %.in, 1
  %20 = icmp samesign ult i64 %19, %4
  br i1 %20, label %ok, label %b5

b5:                                               ; preds = %b2
  %.lcssa = phi i64 [ %18, %b2 ]
  %21 = icmp samesign ult i64 %16, %9
  br i1 %21, label %ok3, label %stop4, !prof !2

b6:                                               ; preds = %ok3, %entry
  ret void

ok:                                               ; preds = %b2
  %22 = icmp samesign ult i64 %16, %4
  br i1 %22, label %ok1, label %stop2, !prof !2

ok1:                                              ; preds = %ok
  %23 = getelementptr inbounds nuw i32, ptr %1, i64 %19
  %24 = load i32, ptr %23, align 4
  %25 = getelementptr inbounds nuw i32, ptr %1, i64 %16
  %26 = load i32, ptr %25, align 4
  %27 = icmp slt i32 %24, %26
  %28 = add i64 %18, 1
  %29 = select i1 %27, i64 %28, i64 %18
  br label %b2

stop2:                                            ; preds = %ok
  call void @rt_host_trap_in_line(ptr %launch, i32 1, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %16, i64 %4, i64 0, i64 0)
  unreachable

ok3:                                              ; preds = %b5
  %30 = trunc i64 %.lcssa to i32
  %31 = getelementptr inbounds nuw i32, ptr %6, i64 %16
  store i32 %30, ptr %31, align 4
  br label %b6

stop4:                                            ; preds = %b5
  call void @rt_host_trap_in_line(ptr %launch, i32 2, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %16, i64 %9, i64 0, i64 0)
  unreachable
}

; Function Attrs: cold noreturn nounwind
declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

; Function Attrs: cold noreturn
declare void @rt_host_trap_in_line(ptr, i32, i32, i32, i32, i32, i32, i64, i64, i64, i64) #2

attributes #0 = { alwaysinline nounwind }
attributes #1 = { cold noreturn nounwind }
attributes #2 = { cold noreturn }

!0 = !{}
!1 = !{i32 1, i32 1025}
!2 = !{!"branch_weights", i32 1048576, i32 1}
