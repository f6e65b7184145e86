; opt=3
; column[i] is read in front of the loop: its check, that of i, is the same in all iterations.

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
  %15 = getelementptr inbounds nuw i8, ptr %0, i64 56
  %16 = load i32, ptr %15, align 4, !invariant.load !0, !pyptx.field !0
  %17 = zext nneg i32 %16 to i64
  %18 = getelementptr inbounds nuw i8, ptr %0, i64 64
  %19 = load i64, ptr %18, align 8, !invariant.load !0, !pyptx.field !0
  %20 = getelementptr inbounds nuw i8, ptr %launch, i64 20
  %21 = load i32, ptr %20, align 4, !range !1, !invariant.load !0, !pyptx.field !0
  %22 = zext nneg i32 %21 to i64
  %23 = zext nneg i32 %bx to i64
  %24 = mul nuw nsw i64 %23, %22
  %25 = zext nneg i32 %tx to i64
  %26 = add nuw nsw i64 %24, %25
  br label %b1

b1:                                               ; preds = %ok3, %entry
  %27 = phi float [ 0.000000e+00, %entry ], [ %46, %ok3 ]
  %28 = phi i64 [ 0, %entry ], [ %30, %ok3 ]
  %29 = icmp slt i64 %28, %19
  br i1 %29, label %b2, label %b3

b2:                                               ; preds = %b1
  %30 = add nuw nsw i64 %28, 1
  %31 = icmp samesign ult i64 %28, %4
  br i1 %31, label %ok, label %stop, !prof !2

b3:                                               ; preds = %b1
  %.lcssa10 = phi float [ %27, %b1 ]
  %32 = icmp samesign ult i64 %26, %17
  br i1 %32, label %ok5, label %stop6, !prof !2

ok:                                               ; preds = %b2
  %33 = getelementptr inbounds nuw float, ptr %1, i64 %28
  %34 = load float, ptr %33, align 4
  %35 = icmp samesign ult i64 %26, %9
  br i1 %35, label %ok1, label %stop2, !prof !2

stop:                                             ; preds = %b2
  %.lcssa7 = phi i64 [ %28, %b2 ]
  call void @rt_host_trap_in_line(ptr %launch, i32 0, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %.lcssa7, i64 %4, i64 0, i64 0)
  unreachable

ok1:                                              ; preds = %ok
  %36 = getelementptr inbounds nuw i32, ptr %6, i64 %26
  %37 = load i32, ptr %36, align 4
  %38 = sext i32 %37 to i64
  %39 = icmp slt i32 %37, 0
  %40 = select i1 %39, i64 %14, i64 0
  %41 = add nsw i64 %40, %38
  %42 = icmp ult i64 %41, %14
  br i1 %42, label %ok3, label %stop4, !prof !2

stop2:                                            ; preds = %ok
  call void @rt_host_trap_in_line(ptr %launch, i32 1, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %26, i64 %9, i64 0, i64 0)
  unreachable

ok3:                                              ; preds = %ok1
  %43 = getelementptr inbounds float, ptr %11, i64 %41
  %44 = load float, ptr %43, align 4
  %45 = fmul contract float %34, %44
  %46 = fadd contract float %27, %45
  br label %b1

stop4:                                            ; preds = %ok1
  %.lcssa14 = phi i64 [ %41, %ok1 ]
  %47 = icmp slt i64 %.lcssa14, 0
  %48 = select i1 %47, i64 %14, i64 0
  %49 = sub nuw nsw i64 %.lcssa14, %48
  call void @rt_host_trap_in_line(ptr %launch, i32 2, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %49, i64 %14, i64 0, i64 0)
  unreachable

ok5:                                              ; preds = %b3
  %50 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %51 = load ptr, ptr %50, align 8, !invariant.load !0, !pyptx.field !0
  %52 = getelementptr inbounds nuw float, ptr %51, i64 %26
  store float %.lcssa10, ptr %52, align 4
  ret void

stop6:                                            ; preds = %b3
  call void @rt_host_trap_in_line(ptr %launch, i32 3, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %26, i64 %17, i64 0, i64 0)
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
