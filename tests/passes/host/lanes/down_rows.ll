; opt=3
; A line of each row is read by 16 threads, so 64 run at once; the edges of the grid by 16.

define internal void @k.thread(ptr nonnull align 8 dereferenceable(96) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  %0 = load ptr, ptr %launch, align 8, !invariant.load !0
  %1 = load ptr, ptr %0, align 8, !invariant.load !0, !pyptx.field !0
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %3 = load i32, ptr %2, align 4, !invariant.load !0, !pyptx.field !0
  %4 = zext nneg i32 %3 to i64
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 12
  %6 = load i32, ptr %5, align 4, !invariant.load !0, !pyptx.field !0
  %7 = zext nneg i32 %6 to i64
  %8 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %9 = load ptr, ptr %8, align 8, !invariant.load !0, !pyptx.field !0
  %10 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %11 = load i32, ptr %10, align 4, !invariant.load !0, !pyptx.field !0
  %12 = zext nneg i32 %11 to i64
  %13 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %14 = load ptr, ptr %13, align 8, !invariant.load !0, !pyptx.field !0
  %15 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %16 = load i32, ptr %15, align 4, !invariant.load !0, !pyptx.field !0
  %17 = zext nneg i32 %16 to i64
  %18 = getelementptr inbounds nuw i8, ptr %launch, i64 20
  %19 = load i32, ptr %18, align 4, !range !1, !invariant.load !0, !pyptx.field !0
  %20 = zext nneg i32 %19 to i64
  %21 = zext nneg i32 %bx to i64
  %22 = mul nuw nsw i64 %21, %20
  %23 = zext nneg i32 %tx to i64
  %24 = add nuw nsw i64 %22, %23
  %25 = icmp samesign ult i64 %24, %7
  br i1 %25, label %b2.preheader, label %b5

b2.preheader:                                     ; preds = %entry
  br label %b2

b2:                                               ; preds = %b2.preheader, %ok3
  %26 = phi float [ %39, %ok3 ], [ 0.000000e+00, %b2.preheader ]
  %27 = phi i64 [ %29, %ok3 ], [ 0, %b2.preheader ]
  %28 = icmp samesign ult i64 %27, %4
  br i1 %28, label %b3, label %b4

b3:                                               ; preds = %b2
  %29 = add nuw nsw i64 %27, 1
  br i1 %25, label %ok1, label %stop2, !prof !2

b4:                                               ; preds = %b2
  %.lcssa9 = phi float [ %26, %b2 ]
  %30 = icmp samesign ult i64 %24, %17
  br i1 %30, label %ok5, label %stop6, !prof !2

b5:                                               ; preds = %ok5, %entry
  ret void

ok1:                                              ; preds = %b3
  %31 = icmp samesign ult i64 %27, %12
  br i1 %31, label %ok3, label %stop4, !prof !2

stop2:                                            ; preds = %b3
  call void @rt_host_trap_in_line(ptr %launch, i32 1, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %24, i64 %7, i64 0, i64 0)
  unreachable

ok3:                                              ; preds = %ok1
  %32 = mul nuw nsw i64 %27, %7
  %33 = getelementptr inbounds nuw float, ptr %1, i64 %32
  %34 = getelementptr inbounds nuw float, ptr %33, i64 %24
  %35 = load float, ptr %34, align 4
  %36 = getelementptr inbounds nuw float, ptr %9, i64 %27
  %37 = load float, ptr %36, align 4
  %38 = fmul contract float %35, %37
  %39 = fadd contract float %26, %38
  br label %b2

stop4:                                            ; preds = %ok1
  %.lcssa8 = phi i64 [ %27, %ok1 ]
  call void @rt_host_trap_in_line(ptr %launch, i32 2, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %.lcssa8, i64 %12, i64 0, i64 0)
  unreachable

ok5:                                              ; preds = %b4
  %40 = getelementptr inbounds nuw float, ptr %14, i64 %24
  store float %.lcssa9, ptr %40, align 4
  br label %b5

stop6:                                            ; preds = %b4
  call void @rt_host_trap_in_line(ptr %launch, i32 3, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %24, i64 %17, i64 0, i64 0)
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
