; opt=3
; A comparison with a bound of 64 bits: as bytes, unless the counter is so large that it could wrap around.
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
  %12 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %13 = load i64, ptr %12, align 8, !invariant.load !0, !pyptx.field !0
  %14 = getelementptr inbounds nuw i8, ptr %launch, i64 20
  %15 = load i32, ptr %14, align 4, !range !1, !invariant.load !0, !pyptx.field !0
  %16 = zext nneg i32 %15 to i64
  %17 = zext nneg i32 %bx to i64
  %18 = mul nuw nsw i64 %17, %16
  %19 = zext nneg i32 %tx to i64
  %20 = add nuw nsw i64 %18, %19
  %21 = icmp samesign ult i64 %20, %4
  br i1 %21, label %ok, label %stop, !prof !2

b3:                                               ; preds = %ok3, %ok
  ret void

ok:                                               ; preds = %entry
  %22 = getelementptr inbounds nuw i32, ptr %1, i64 %20
  %23 = load i32, ptr %22, align 4
  %24 = icmp sgt i32 %23, 3
  %25 = add i64 %20, %13
  %26 = icmp slt i64 %25, %11
  %or.cond = select i1 %24, i1 %26, i1 false
  br i1 %or.cond, label %ok1, label %b3

stop:                                             ; preds = %entry
  call void @rt_host_trap_in_line(ptr %launch, i32 0, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %20, i64 %4, i64 0, i64 0)
  unreachable

ok1:                                              ; preds = %ok
  %27 = icmp samesign ult i64 %20, %9
  br i1 %27, label %ok3, label %stop4, !prof !2

ok3:                                              ; preds = %ok1
  %28 = getelementptr inbounds nuw i32, ptr %6, i64 %20
  store i32 %23, ptr %28, align 4
  br label %b3

stop4:                                            ; preds = %ok1
  call void @rt_host_trap_in_line(ptr %launch, i32 2, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %20, i64 %9, i64 0, i64 0)
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
