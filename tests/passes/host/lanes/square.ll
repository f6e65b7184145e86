; opt=3
; The square of a difference of 64 bits, of numbers of 32.
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
  br i1 %22, label %b1, label %b2

b1:                                               ; preds = %entry
  %23 = icmp samesign ult i64 %21, %4
  br i1 %23, label %ok, label %stop, !prof !2

b2:                                               ; preds = %ok3, %entry
  ret void

ok:                                               ; preds = %b1
  %24 = icmp samesign ult i64 %21, %9
  br i1 %24, label %ok1, label %stop2, !prof !2

stop:                                             ; preds = %b1
  call void @rt_host_trap_in_line(ptr %launch, i32 0, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %21, i64 %4, i64 0, i64 0)
  unreachable

ok1:                                              ; preds = %ok
  br i1 true, label %ok3, label %stop4, !prof !2

stop2:                                            ; preds = %ok
  call void @rt_host_trap_in_line(ptr %launch, i32 1, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %21, i64 %9, i64 0, i64 0)
  unreachable

ok3:                                              ; preds = %ok1
  %25 = getelementptr inbounds nuw i32, ptr %1, i64 %21
  %26 = load i32, ptr %25, align 4
  %27 = sext i32 %26 to i64
  %28 = getelementptr inbounds nuw i32, ptr %6, i64 %21
  %29 = load i32, ptr %28, align 4
  %30 = sext i32 %29 to i64
  %31 = sub nsw i64 %27, %30
  %32 = mul i64 %31, %31
  %33 = getelementptr inbounds nuw i64, ptr %11, i64 %21
  store i64 %32, ptr %33, align 8
  br label %b2

stop4:                                            ; preds = %ok1
  call void @rt_host_trap_in_line(ptr %launch, i32 2, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %21, i64 %14, i64 0, i64 0)
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
