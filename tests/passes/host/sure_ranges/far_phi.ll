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
  %10 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %11 = load ptr, ptr %10, align 8, !invariant.load !0, !pyptx.field !0
  %12 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %13 = load i32, ptr %12, align 4, !invariant.load !0, !pyptx.field !0
  %14 = zext nneg i32 %13 to i64
  %15 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %16 = load ptr, ptr %15, align 8, !invariant.load !0, !pyptx.field !0
  %17 = getelementptr inbounds nuw i8, ptr %0, i64 56
  %18 = load i32, ptr %17, align 4, !invariant.load !0, !pyptx.field !0
  %19 = zext nneg i32 %18 to i64
  %20 = getelementptr inbounds nuw i8, ptr %launch, i64 20
  %21 = load i32, ptr %20, align 4, !range !1, !invariant.load !0, !pyptx.field !0
  %22 = zext nneg i32 %21 to i64
  %23 = zext nneg i32 %bx to i64
  %24 = mul nuw nsw i64 %23, %22
  %25 = zext nneg i32 %tx to i64
  %26 = add nuw nsw i64 %24, %25
  %27 = icmp samesign ult i64 %26, %19
  br i1 %27, label %b1, label %b5

b1:                                               ; preds = %entry
  %28 = icmp samesign ult i64 %26, %4
  br i1 %28, label %ok, label %stop, !prof !2

b2:                                               ; preds = %ok5, %ok1
  %29 = phi double [ 0.000000e+00, %ok1 ], [ %59, %ok5 ]
  %30 = phi i64 [ %44, %ok1 ], [ %32, %ok5 ]
  %31 = icmp slt i64 %30, %45
  br i1 %31, label %b3, label %b4

b3:                                               ; preds = %b2
  %32 = add i64 %30, 1
  %33 = icmp slt i64 %30, 0
  %34 = select i1 %33, i64 %14, i64 0
  %35 = add i64 %30, %34
  %36 = icmp ult i64 %35, %14
  br i1 %36, label %ok3, label %stop4, !prof !2

b4:                                               ; preds = %b2
  %37 = icmp samesign ult i64 %26, %19
  br i1 %37, label %ok7, label %stop8, !prof !2

b5:                                               ; preds = %ok7, %entry
  ret void

ok:                                               ; preds = %b1
  %38 = add nuw nsw i64 %26, 1
  %39 = icmp samesign ult i64 %38, %4
  br i1 %39, label %ok1, label %stop2, !prof !2

stop:                                             ; preds = %b1
  call void @rt_host_trap_in_line(ptr %launch, i32 0, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %26, i64 %4, i64 0, i64 0)
  unreachable

ok1:                                              ; preds = %ok
  %40 = getelementptr inbounds nuw i32, ptr %1, i64 %26
  %41 = load i32, ptr %40, align 4
  %42 = getelementptr inbounds nuw i32, ptr %1, i64 %38
  %43 = load i32, ptr %42, align 4
  %44 = sext i32 %41 to i64
  %45 = sext i32 %43 to i64
  br label %b2

stop2:                                            ; preds = %ok
  call void @rt_host_trap_in_line(ptr %launch, i32 1, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %38, i64 %4, i64 0, i64 0)
  unreachable

ok3:                                              ; preds = %b3
  %46 = icmp slt i64 %32, 0
  %47 = select i1 %46, i64 %9, i64 0
  %48 = add i64 %32, %47
  %49 = icmp ult i64 %48, %9
  br i1 %49, label %ok5, label %stop6, !prof !2

stop4:                                            ; preds = %b3
  %.lcssa11 = phi i64 [ %35, %b3 ]
  %50 = icmp slt i64 %.lcssa11, 0
  %51 = select i1 %50, i64 %14, i64 0
  %52 = sub nuw i64 %.lcssa11, %51
  call void @rt_host_trap_in_line(ptr %launch, i32 2, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %52, i64 %14, i64 0, i64 0)
  unreachable

ok5:                                              ; preds = %ok3
  %53 = getelementptr inbounds double, ptr %11, i64 %35
  %54 = load double, ptr %53, align 8
  %55 = getelementptr inbounds i32, ptr %6, i64 %48
  %56 = load i32, ptr %55, align 4
  %57 = sitofp i32 %56 to double
  %58 = fmul contract double %54, %57
  %59 = fadd contract double %29, %58
  br label %b2

stop6:                                            ; preds = %ok3
  %.lcssa13 = phi i64 [ %48, %ok3 ]
  %60 = icmp slt i64 %.lcssa13, 0
  %61 = select i1 %60, i64 %9, i64 0
  %62 = sub nuw i64 %.lcssa13, %61
  call void @rt_host_trap_in_line(ptr %launch, i32 3, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %62, i64 %9, i64 0, i64 0)
  unreachable

ok7:                                              ; preds = %b4
  %.lcssa = phi double [ %29, %b4 ]
  %63 = getelementptr inbounds nuw double, ptr %16, i64 %26
  store double %.lcssa, ptr %63, align 8
  br label %b5

stop8:                                            ; preds = %b4
  call void @rt_host_trap_in_line(ptr %launch, i32 4, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %26, i64 %19, i64 0, i64 0)
  unreachable
}

declare void @rt_host_trap_in_line(ptr, i32, i32, i32, i32, i32, i32, i64, i64, i64, i64) #2

attributes #0 = { alwaysinline nounwind }
attributes #1 = { cold noreturn nounwind }
attributes #2 = { cold noreturn }

!0 = !{}
!1 = !{i32 1, i32 1025}
!2 = !{!"branch_weights", i32 1048576, i32 1}
