; opt=3 before=joined_blocks,inner_rows
; A row of which guards leave inner threads alone begins at the first of them.
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
  %13 = getelementptr inbounds nuw i8, ptr %0, i64 28
  %14 = load i32, ptr %13, align 4, !invariant.load !0, !pyptx.field !0
  %15 = zext nneg i32 %14 to i64
  %16 = getelementptr inbounds nuw i8, ptr %launch, i64 20
  %17 = load i32, ptr %16, align 4, !range !1, !invariant.load !0, !pyptx.field !0
  %18 = zext nneg i32 %17 to i64
  %19 = zext nneg i32 %bx to i64
  %20 = mul nuw nsw i64 %19, %18
  %21 = zext nneg i32 %tx to i64
  %22 = add nuw nsw i64 %20, %21
  %23 = getelementptr inbounds nuw i8, ptr %launch, i64 24
  %24 = load i32, ptr %23, align 4, !range !1, !invariant.load !0, !pyptx.field !0
  %25 = zext nneg i32 %24 to i64
  %26 = zext nneg i32 %by to i64
  %27 = mul nuw nsw i64 %26, %25
  %28 = zext nneg i32 %ty to i64
  %29 = add nuw nsw i64 %27, %28
  %.not = icmp ne i64 %29, 0
  %30 = add nsw i64 %4, -1
  %31 = icmp slt i64 %29, %30
  %or.cond = select i1 %.not, i1 %31, i1 false
  %or.cond.not = xor i1 %or.cond, true
  %.not11 = icmp eq i64 %22, 0
  %or.cond13 = select i1 %or.cond.not, i1 true, i1 %.not11
  %or.cond13.not = xor i1 %or.cond13, true
  %32 = add nsw i64 %7, -1
  %33 = icmp slt i64 %22, %32
  %or.cond15 = select i1 %or.cond13.not, i1 %33, i1 false
  br i1 %or.cond15, label %b4, label %b5

b4:                                               ; preds = %entry
  %34 = add nsw i64 %22, -1
  %35 = icmp samesign ult i64 %29, %4
  br i1 %35, label %ok, label %stop, !prof !2

b5:                                               ; preds = %ok9, %entry
  ret void

ok:                                               ; preds = %b4
  %36 = icmp ult i64 %34, %7
  br i1 %36, label %ok1, label %stop2, !prof !2

stop:                                             ; preds = %b4
  call void @rt_host_trap(ptr nonnull %launch, i32 0, i64 %block, i32 %t, i64 %29, i64 %4, i64 0, i64 0)
  unreachable

ok1:                                              ; preds = %ok
  %37 = mul nuw nsw i64 %29, %7
  %38 = getelementptr float, ptr %1, i64 %37
  %39 = getelementptr float, ptr %38, i64 %34
  %40 = load float, ptr %39, align 4
  %41 = add nuw nsw i64 %22, 1
  %42 = icmp samesign ult i64 %41, %7
  br i1 %42, label %ok5, label %stop6, !prof !2

stop2:                                            ; preds = %ok
  call void @rt_host_trap(ptr nonnull %launch, i32 1, i64 %block, i32 %t, i64 %34, i64 %7, i64 0, i64 0)
  unreachable

ok5:                                              ; preds = %ok1
  %43 = getelementptr inbounds nuw float, ptr %38, i64 %41
  %44 = load float, ptr %43, align 4
  %45 = fadd contract float %40, %44
  %46 = icmp samesign ult i64 %29, %12
  br i1 %46, label %ok7, label %stop8, !prof !2

stop6:                                            ; preds = %ok1
  call void @rt_host_trap(ptr nonnull %launch, i32 3, i64 %block, i32 %t, i64 %41, i64 %7, i64 0, i64 0)
  unreachable

ok7:                                              ; preds = %ok5
  %47 = icmp samesign ult i64 %22, %15
  br i1 %47, label %ok9, label %stop10, !prof !2

stop8:                                            ; preds = %ok5
  call void @rt_host_trap(ptr nonnull %launch, i32 4, i64 %block, i32 %t, i64 %29, i64 %12, i64 0, i64 0)
  unreachable

ok9:                                              ; preds = %ok7
  %48 = mul nuw nsw i64 %29, %15
  %49 = getelementptr inbounds nuw float, ptr %9, i64 %48
  %50 = getelementptr inbounds nuw float, ptr %49, i64 %22
  store float %45, ptr %50, align 4
  br label %b5

stop10:                                           ; preds = %ok7
  call void @rt_host_trap(ptr nonnull %launch, i32 5, i64 %block, i32 %t, i64 %22, i64 %15, i64 0, i64 0)
  unreachable
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

attributes #0 = { alwaysinline nounwind }
attributes #1 = { cold noreturn nounwind }

!0 = !{}
!1 = !{i32 1, i32 1025}
!2 = !{!"branch_weights", i32 1048576, i32 1}
