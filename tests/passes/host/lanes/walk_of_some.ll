; opt=3
; Lanes that walk along rows behind a condition: those that rest read zeros when a tile is filled.
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
  %18 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %19 = load ptr, ptr %18, align 8, !invariant.load !0, !pyptx.field !0
  %20 = getelementptr inbounds nuw i8, ptr %0, i64 56
  %21 = load i32, ptr %20, align 4, !invariant.load !0, !pyptx.field !0
  %22 = zext nneg i32 %21 to i64
  %23 = getelementptr inbounds nuw i8, ptr %launch, i64 20
  %24 = load i32, ptr %23, align 4, !range !1, !invariant.load !0, !pyptx.field !0
  %25 = zext nneg i32 %24 to i64
  %26 = zext nneg i32 %bx to i64
  %27 = mul nuw nsw i64 %26, %25
  %28 = zext nneg i32 %tx to i64
  %29 = add nuw nsw i64 %27, %28
  %30 = icmp samesign ult i64 %29, %22
  br i1 %30, label %b1, label %b7

b1:                                               ; preds = %entry
  %31 = icmp samesign ult i64 %29, %17
  br i1 %31, label %ok, label %stop, !prof !2

b4:                                               ; preds = %b4.preheader, %ok5
  %32 = phi float [ %52, %ok5 ], [ 0.000000e+00, %b4.preheader ]
  %33 = phi i64 [ %35, %ok5 ], [ 0, %b4.preheader ]
  %34 = icmp samesign ult i64 %33, %12
  br i1 %34, label %b5, label %b6

b5:                                               ; preds = %b4
  %35 = add nuw nsw i64 %33, 1
  %36 = fmul contract float %32, 5.000000e-01
  %37 = icmp ult i64 %40, %4
  br i1 %37, label %ok1, label %stop2, !prof !2

b6:                                               ; preds = %b4
  %.lcssa12 = phi float [ %32, %b4 ]
  %38 = icmp samesign ult i64 %29, %22
  br i1 %38, label %ok7, label %stop8, !prof !2

b7:                                               ; preds = %ok7, %ok, %entry
  ret void

ok:                                               ; preds = %b1
  %39 = getelementptr inbounds nuw i64, ptr %14, i64 %29
  %40 = load i64, ptr %39, align 8
  %41 = icmp sgt i64 %40, -1
  %42 = icmp slt i64 %40, %4
  %or.cond = select i1 %41, i1 %42, i1 false
  br i1 %or.cond, label %b4.preheader, label %b7

b4.preheader:                                     ; preds = %ok
  br label %b4

stop:                                             ; preds = %b1
  call void @rt_host_trap_in_line(ptr %launch, i32 0, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %29, i64 %17, i64 0, i64 0)
  unreachable

ok1:                                              ; preds = %b5
  %43 = icmp samesign ult i64 %33, %7
  br i1 %43, label %ok3, label %stop4, !prof !2

stop2:                                            ; preds = %b5
  call void @rt_host_trap_in_line(ptr %launch, i32 1, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %40, i64 %4, i64 0, i64 0)
  unreachable

ok3:                                              ; preds = %ok1
  %44 = icmp samesign ult i64 %33, %12
  br i1 %44, label %ok5, label %stop6, !prof !2

stop4:                                            ; preds = %ok1
  %.lcssa10 = phi i64 [ %33, %ok1 ]
  call void @rt_host_trap_in_line(ptr %launch, i32 2, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %.lcssa10, i64 %7, i64 0, i64 0)
  unreachable

ok5:                                              ; preds = %ok3
  %45 = mul nuw nsw i64 %40, %7
  %46 = getelementptr inbounds nuw float, ptr %1, i64 %45
  %47 = getelementptr inbounds nuw float, ptr %46, i64 %33
  %48 = load float, ptr %47, align 4
  %49 = getelementptr inbounds nuw float, ptr %9, i64 %33
  %50 = load float, ptr %49, align 4
  %51 = fmul contract float %48, %50
  %52 = fadd contract float %36, %51
  br label %b4

stop6:                                            ; preds = %ok3
  %.lcssa11 = phi i64 [ %33, %ok3 ]
  call void @rt_host_trap_in_line(ptr %launch, i32 3, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %.lcssa11, i64 %12, i64 0, i64 0)
  unreachable

ok7:                                              ; preds = %b6
  %53 = fpext float %.lcssa12 to double
  %54 = getelementptr inbounds nuw double, ptr %19, i64 %29
  store double %53, ptr %54, align 8
  br label %b7

stop8:                                            ; preds = %b6
  call void @rt_host_trap_in_line(ptr %launch, i32 4, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %29, i64 %22, i64 0, i64 0)
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
