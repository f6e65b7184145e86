; opt=3 before=joined_blocks
; The loop is unrolled first: checks in it are of two elements to either side.
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
  %30 = icmp samesign ult i64 %29, %4
  %31 = icmp samesign ugt i64 %22, 1
  %or.cond = select i1 %30, i1 %31, i1 false
  %32 = add nsw i64 %7, -2
  %33 = icmp slt i64 %22, %32
  %or.cond16 = select i1 %or.cond, i1 %33, i1 false
  br i1 %or.cond16, label %ok, label %b7

b4:                                               ; preds = %ok9, %ok1
  %34 = phi float [ %45, %ok1 ], [ %53, %ok9 ]
  %35 = phi i64 [ 1, %ok1 ], [ %37, %ok9 ]
  %36 = icmp samesign ult i64 %35, 3
  br i1 %36, label %b5, label %b6

b5:                                               ; preds = %b4
  %37 = add nuw nsw i64 %35, 1
  %38 = sub nsw i64 %22, %35
  %39 = icmp ult i64 %38, %7
  br i1 %39, label %ok5, label %stop6, !prof !2

b6:                                               ; preds = %b4
  %.lcssa = phi float [ %34, %b4 ]
  %40 = icmp samesign ult i64 %29, %12
  br i1 %40, label %ok11, label %stop12, !prof !2

b7:                                               ; preds = %ok13, %entry
  ret void

ok:                                               ; preds = %entry
  %41 = icmp samesign ult i64 %22, %7
  br i1 %41, label %ok1, label %stop2, !prof !2

ok1:                                              ; preds = %ok
  %42 = mul nuw nsw i64 %29, %7
  %43 = getelementptr inbounds nuw float, ptr %1, i64 %42
  %44 = getelementptr inbounds nuw float, ptr %43, i64 %22
  %45 = load float, ptr %44, align 4
  br label %b4

stop2:                                            ; preds = %ok
  call void @rt_host_trap(ptr nonnull %launch, i32 1, i64 %block, i32 %t, i64 %22, i64 %7, i64 0, i64 0)
  unreachable

ok5:                                              ; preds = %b5
  %46 = getelementptr float, ptr %43, i64 %38
  %47 = load float, ptr %46, align 4
  %48 = add nuw nsw i64 %22, %35
  %49 = icmp samesign ult i64 %48, %7
  br i1 %49, label %ok9, label %stop10, !prof !2

stop6:                                            ; preds = %b5
  %.lcssa19 = phi i64 [ %38, %b5 ]
  call void @rt_host_trap(ptr nonnull %launch, i32 3, i64 %block, i32 %t, i64 %.lcssa19, i64 %7, i64 0, i64 0)
  unreachable

ok9:                                              ; preds = %ok5
  %50 = getelementptr inbounds nuw float, ptr %43, i64 %48
  %51 = load float, ptr %50, align 4
  %52 = fadd contract float %47, %51
  %53 = fadd contract float %34, %52
  br label %b4

stop10:                                           ; preds = %ok5
  %.lcssa21 = phi i64 [ %48, %ok5 ]
  call void @rt_host_trap(ptr nonnull %launch, i32 5, i64 %block, i32 %t, i64 %.lcssa21, i64 %7, i64 0, i64 0)
  unreachable

ok11:                                             ; preds = %b6
  %54 = icmp samesign ult i64 %22, %15
  br i1 %54, label %ok13, label %stop14, !prof !2

stop12:                                           ; preds = %b6
  call void @rt_host_trap(ptr nonnull %launch, i32 6, i64 %block, i32 %t, i64 %29, i64 %12, i64 0, i64 0)
  unreachable

ok13:                                             ; preds = %ok11
  %55 = mul nuw nsw i64 %29, %15
  %56 = getelementptr inbounds nuw float, ptr %9, i64 %55
  %57 = getelementptr inbounds nuw float, ptr %56, i64 %22
  store float %.lcssa, ptr %57, align 4
  br label %b7

stop14:                                           ; preds = %ok11
  call void @rt_host_trap(ptr nonnull %launch, i32 7, i64 %block, i32 %t, i64 %22, i64 %15, i64 0, i64 0)
  unreachable
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

attributes #0 = { alwaysinline nounwind }
attributes #1 = { cold noreturn nounwind }

!0 = !{}
!1 = !{i32 1, i32 1025}
!2 = !{!"branch_weights", i32 1048576, i32 1}
