; opt=3
; Indices that fall and may count from the end, under a mask: contiguous, from the last lane's on, where that is not negative.
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
  %15 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %16 = load i64, ptr %15, align 8, !invariant.load !0, !pyptx.field !0
  %17 = getelementptr inbounds nuw i8, ptr %launch, i64 20
  %18 = load i32, ptr %17, align 4, !range !1, !invariant.load !0, !pyptx.field !0
  %19 = zext nneg i32 %18 to i64
  %20 = zext nneg i32 %bx to i64
  %21 = mul nuw nsw i64 %20, %19
  %22 = zext nneg i32 %tx to i64
  %23 = add nuw nsw i64 %21, %22
  %24 = icmp samesign ult i64 %23, %9
  br i1 %24, label %ok, label %stop, !prof !2

b1:                                               ; preds = %ok
  %25 = sub i64 %16, %23
  %26 = icmp slt i64 %25, 0
  %27 = select i1 %26, i64 %4, i64 0
  %28 = add i64 %25, %27
  %29 = icmp ult i64 %28, %4
  br i1 %29, label %ok1, label %stop2, !prof !2

b2:                                               ; preds = %ok3, %ok
  ret void

ok:                                               ; preds = %entry
  %30 = getelementptr inbounds nuw i32, ptr %6, i64 %23
  %31 = load i32, ptr %30, align 4
  %32 = icmp sgt i32 %31, 3
  br i1 %32, label %b1, label %b2

stop:                                             ; preds = %entry
  call void @rt_host_trap_in_line(ptr %launch, i32 0, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %23, i64 %9, i64 0, i64 0)
  unreachable

ok1:                                              ; preds = %b1
  %33 = select i1 %26, i64 %14, i64 0
  %34 = add i64 %25, %33
  %35 = icmp ult i64 %34, %14
  br i1 %35, label %ok3, label %stop4, !prof !2

stop2:                                            ; preds = %b1
  %36 = icmp slt i64 %28, 0
  %37 = select i1 %36, i64 %4, i64 0
  %38 = sub nuw i64 %28, %37
  call void @rt_host_trap_in_line(ptr %launch, i32 1, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %38, i64 %4, i64 0, i64 0)
  unreachable

ok3:                                              ; preds = %ok1
  %39 = getelementptr inbounds i8, ptr %1, i64 %28
  %40 = load i8, ptr %39, align 1
  %41 = getelementptr inbounds i8, ptr %11, i64 %34
  store i8 %40, ptr %41, align 1
  br label %b2

stop4:                                            ; preds = %ok1
  %42 = icmp slt i64 %34, 0
  %43 = select i1 %42, i64 %14, i64 0
  %44 = sub nuw i64 %34, %43
  call void @rt_host_trap_in_line(ptr %launch, i32 2, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %44, i64 %14, i64 0, i64 0)
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
