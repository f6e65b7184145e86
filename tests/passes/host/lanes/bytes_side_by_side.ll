; opt=3
; Nothing but bytes side by side: 64 threads at once, as 16 fill half of a register.

define internal void @k.thread(ptr nonnull align 8 dereferenceable(96) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  %0 = load ptr, ptr %launch, align 8, !invariant.load !0
  %1 = load ptr, ptr %0, align 8, !invariant.load !0, !pyptx.field !0
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %3 = load ptr, ptr %2, align 8, !invariant.load !0, !pyptx.field !0
  %4 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %5 = load i32, ptr %4, align 4, !invariant.load !0, !pyptx.field !0
  %6 = zext nneg i32 %5 to i64
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %8 = load i32, ptr %7, align 4, !invariant.load !0, !pyptx.field !0
  %9 = zext nneg i32 %8 to i64
  %10 = getelementptr inbounds nuw i8, ptr %launch, i64 20
  %11 = load i32, ptr %10, align 4, !range !1, !invariant.load !0, !pyptx.field !0
  %12 = zext nneg i32 %11 to i64
  %13 = zext nneg i32 %bx to i64
  %14 = mul nuw nsw i64 %13, %12
  %15 = zext nneg i32 %tx to i64
  %16 = add nuw nsw i64 %14, %15
  %17 = icmp samesign ult i64 %16, %9
  br i1 %17, label %ok, label %b6

b6:                                               ; preds = %ok1, %entry
  ret void

ok:                                               ; preds = %entry
  %18 = getelementptr inbounds nuw i8, ptr %1, i64 %16
  %19 = load i8, ptr %18, align 1
  %20 = icmp ugt i8 %19, 64
  %21 = icmp ult i8 %19, 91
  %22 = add nuw i8 %19, 32
  %spec.select = select i1 %21, i8 %22, i8 %19
  %23 = select i1 %20, i8 %spec.select, i8 %19
  %24 = icmp samesign ult i64 %16, %6
  br i1 %24, label %ok1, label %stop2, !prof !2

ok1:                                              ; preds = %ok
  %25 = getelementptr inbounds nuw i8, ptr %3, i64 %16
  store i8 %23, ptr %25, align 1
  br label %b6

stop2:                                            ; preds = %ok
  call void @rt_host_trap_in_line(ptr %launch, i32 1, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %16, i64 %6, i64 0, i64 0)
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
