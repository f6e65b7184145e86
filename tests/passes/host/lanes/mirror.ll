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
  %17 = icmp samesign ult i64 %16, %9
  br i1 %17, label %b1, label %b6

b1:                                               ; preds = %entry
  %18 = add nsw i64 %16, -3
  %19 = icmp samesign ult i64 %16, 3
  br i1 %19, label %b2, label %b3

b2:                                               ; preds = %b1
  %20 = sub nuw nsw i64 3, %16
  br label %b5

b3:                                               ; preds = %b1
  %.not = icmp slt i64 %18, %4
  br i1 %.not, label %b5, label %b4

b4:                                               ; preds = %b3
  %21 = shl nuw nsw i64 %4, 1
  %22 = add nsw i64 %21, -2
  %23 = sub nsw i64 %22, %18
  br label %b5

b5:                                               ; preds = %b4, %b3, %b2
  %24 = phi i64 [ %20, %b2 ], [ %18, %b3 ], [ %23, %b4 ]
  %25 = icmp slt i64 %24, 0
  %26 = select i1 %25, i64 %4, i64 0
  %27 = add i64 %24, %26
  %28 = icmp ult i64 %27, %4
  br i1 %28, label %ok, label %stop, !prof !2

b6:                                               ; preds = %ok1, %entry
  ret void

ok:                                               ; preds = %b5
  %29 = icmp samesign ult i64 %16, %9
  br i1 %29, label %ok1, label %stop2, !prof !2

stop:                                             ; preds = %b5
  %30 = icmp slt i64 %27, 0
  %31 = select i1 %30, i64 %4, i64 0
  %32 = sub nuw i64 %27, %31
  call void @rt_host_trap_in_line(ptr %launch, i32 0, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %32, i64 %4, i64 0, i64 0)
  unreachable

ok1:                                              ; preds = %ok
  %33 = getelementptr inbounds float, ptr %1, i64 %27
  %34 = load float, ptr %33, align 4
  %35 = fadd contract float %34, 1.000000e+00
  %36 = fmul contract float %35, %34
  %37 = fadd contract float %36, 1.000000e+00
  %38 = fmul contract float %37, %34
  %39 = getelementptr inbounds nuw float, ptr %6, i64 %16
  store float %38, ptr %39, align 4
  br label %b6

stop2:                                            ; preds = %ok
  call void @rt_host_trap_in_line(ptr %launch, i32 1, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %16, i64 %9, i64 0, i64 0)
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
