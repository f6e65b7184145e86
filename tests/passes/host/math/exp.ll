; opt=3
define internal void @k.thread(ptr nonnull align 8 dereferenceable(72) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  %0 = getelementptr inbounds i8, ptr %launch, i64 0
  %1 = load ptr, ptr %0, align 8, !invariant.load !0, !pyptx.field !0
  %2 = getelementptr inbounds i8, ptr %1, i64 0
  %3 = load ptr, ptr %2, align 8, !invariant.load !0, !pyptx.field !0
  %4 = getelementptr inbounds i8, ptr %launch, i64 0
  %5 = load ptr, ptr %4, align 8, !invariant.load !0, !pyptx.field !0
  %6 = getelementptr inbounds i8, ptr %5, i64 8
  %7 = load i32, ptr %6, align 4, !invariant.load !0, !pyptx.field !0
  %8 = zext nneg i32 %7 to i64
  %9 = getelementptr inbounds i8, ptr %launch, i64 0
  %10 = load ptr, ptr %9, align 8, !invariant.load !0, !pyptx.field !0
  %11 = getelementptr inbounds i8, ptr %10, i64 16
  %12 = load ptr, ptr %11, align 8, !invariant.load !0, !pyptx.field !0
  %13 = getelementptr inbounds i8, ptr %launch, i64 0
  %14 = load ptr, ptr %13, align 8, !invariant.load !0, !pyptx.field !0
  %15 = getelementptr inbounds i8, ptr %14, i64 24
  %16 = load i32, ptr %15, align 4, !invariant.load !0, !pyptx.field !0
  %17 = zext nneg i32 %16 to i64
  br label %b0

b0:                                               ; preds = %entry
  %18 = getelementptr inbounds i8, ptr %launch, i64 20
  %19 = load i32, ptr %18, align 4, !range !1, !invariant.load !0, !pyptx.field !0
  %20 = zext nneg i32 %19 to i64
  %21 = zext nneg i32 %bx to i64
  %22 = mul nsw i64 %21, %20
  %23 = zext nneg i32 %tx to i64
  %24 = add nsw i64 %22, %23
  %25 = icmp ult i64 %24, %8
  br i1 %25, label %ok, label %stop, !prof !2

ok:                                               ; preds = %b0
  %26 = getelementptr inbounds float, ptr %3, i64 %24
  %27 = load float, ptr %26, align 4
  %28 = call float @expf(float %27)
  %29 = icmp ult i64 %24, %17
  br i1 %29, label %ok1, label %stop2, !prof !2

stop:                                             ; preds = %b0
  %30 = icmp slt i64 %24, 0
  %31 = sub i64 %24, %8
  %32 = select i1 %30, i64 %31, i64 %24
  call void @rt_host_trap(ptr %launch, i32 0, i64 %block, i32 %t, i64 %32, i64 %8, i64 0, i64 0)
  unreachable

ok1:                                              ; preds = %ok
  %33 = getelementptr inbounds float, ptr %12, i64 %24
  store float %28, ptr %33, align 4
  ret void

stop2:                                            ; preds = %ok
  %34 = icmp slt i64 %24, 0
  %35 = sub i64 %24, %17
  %36 = select i1 %34, i64 %35, i64 %24
  call void @rt_host_trap(ptr %launch, i32 1, i64 %block, i32 %t, i64 %36, i64 %17, i64 0, i64 0)
  unreachable
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

declare float @expf(float) #0

attributes #0 = { nounwind }
attributes #1 = { cold noreturn nounwind }

!0 = !{}
!1 = !{i32 1, i32 1025}
!2 = !{!"branch_weights", i32 1048576, i32 1}
