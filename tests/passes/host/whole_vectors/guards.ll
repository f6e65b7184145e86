; shared=256 before=fission
define internal void @k.thread(ptr nonnull align 8 dereferenceable(96) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  %0 = load ptr, ptr %launch, align 8, !invariant.load !0
  %1 = load ptr, ptr %0, align 8, !invariant.load !0, !pyptx.field !0
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %3 = load i64, ptr %2, align 8, !invariant.load !0, !pyptx.field !0
  %4 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %5 = load ptr, ptr %4, align 8, !invariant.load !0, !pyptx.field !0
  %6 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %7 = load i32, ptr %6, align 4, !invariant.load !0, !pyptx.field !0
  %8 = zext nneg i32 %7 to i64
  %9 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %10 = load i32, ptr %9, align 4, !invariant.load !0, !pyptx.field !0
  %11 = zext nneg i32 %10 to i64
  %12 = getelementptr inbounds nuw i8, ptr %launch, i64 40
  %13 = load ptr, ptr %12, align 8, !invariant.load !0, !pyptx.field !0
  %14 = zext nneg i32 %tx to i64
  %15 = getelementptr inbounds nuw i8, ptr %launch, i64 20
  %16 = load i32, ptr %15, align 4, !range !1, !invariant.load !0, !pyptx.field !0
  %17 = zext nneg i32 %16 to i64
  %18 = zext nneg i32 %bx to i64
  %19 = mul nuw nsw i64 %18, %17
  %20 = add nuw nsw i64 %19, %14
  %21 = icmp samesign ult i64 %20, %11
  br i1 %21, label %ok, label %b2

b2:                                               ; preds = %ok1, %entry
  %22 = call i32 @pyptx.barrier(i32 0, i1 false)
  %.not = icmp sle i64 %3, %14
  %23 = sub i64 64, %3
  %24 = icmp sgt i64 %23, %14
  %or.cond = and i1 %.not, %24
  %25 = icmp samesign ult i64 %20, %8
  %or.cond8 = select i1 %or.cond, i1 %25, i1 false
  br i1 %or.cond8, label %b5, label %b6

b5:                                               ; preds = %b2
  %26 = sub i64 %14, %3
  %27 = icmp ult i64 %26, 64
  br i1 %27, label %ok5, label %stop4, !prof !2

b6:                                               ; preds = %ok5, %b2
  ret void

ok:                                               ; preds = %entry
  %28 = icmp ult i32 %tx, 64
  br i1 %28, label %ok1, label %stop2, !prof !2

ok1:                                              ; preds = %ok
  %29 = getelementptr inbounds nuw i32, ptr %1, i64 %20
  %30 = load i32, ptr %29, align 4
  %31 = getelementptr inbounds nuw i32, ptr %13, i64 %14
  store i32 %30, ptr %31, align 4
  br label %b2

stop2:                                            ; preds = %ok
  call void @rt_host_trap(ptr nonnull %launch, i32 1, i64 %block, i32 %t, i64 %14, i64 64, i64 0, i64 0)
  unreachable

stop4:                                            ; preds = %b5
  call void @rt_host_trap(ptr nonnull %launch, i32 2, i64 %block, i32 %t, i64 %26, i64 64, i64 0, i64 0)
  unreachable

ok5:                                              ; preds = %b5
  %32 = getelementptr inbounds nuw i32, ptr %13, i64 %26
  %33 = load i32, ptr %32, align 4
  %34 = getelementptr inbounds nuw i32, ptr %5, i64 %20
  store i32 %33, ptr %34, align 4
  br label %b6
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

declare i32 @pyptx.barrier(i32, i1) #2

attributes #0 = { nounwind }
attributes #1 = { cold noreturn nounwind }
attributes #2 = { convergent nounwind }

!0 = !{}
!1 = !{i32 1, i32 1025}
!2 = !{!"branch_weights", i32 1048576, i32 1}
