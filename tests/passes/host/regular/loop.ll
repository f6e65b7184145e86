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
  br label %b0

b0:                                               ; preds = %entry
  %9 = getelementptr inbounds i8, ptr %launch, i64 20
  %10 = load i32, ptr %9, align 4, !range !1, !invariant.load !0, !pyptx.field !0
  %11 = zext nneg i32 %10 to i64
  %12 = zext nneg i32 %bx to i64
  %13 = mul nsw i64 %12, %11
  %14 = zext nneg i32 %tx to i64
  %15 = add nsw i64 %13, %14
  br label %b1

b1:                                               ; preds = %b6, %b0
  %16 = icmp ult i64 %15, %8
  br i1 %16, label %ok, label %stop, !prof !2

b2:                                               ; preds = %ok
  %17 = icmp ult i64 %15, %8
  br i1 %17, label %ok1, label %stop2, !prof !2

b3:                                               ; preds = %ok1
  %18 = icmp ult i64 %15, %8
  br i1 %18, label %ok3, label %stop4, !prof !2

b4:                                               ; preds = %ok1
  %19 = icmp ult i64 %15, %8
  br i1 %19, label %ok7, label %stop8, !prof !2

b6:                                               ; preds = %ok9, %ok5
  br label %b1

b5:                                               ; preds = %ok
  ret void

ok:                                               ; preds = %b1
  %20 = getelementptr inbounds float, ptr %3, i64 %15
  %21 = load float, ptr %20, align 4
  %22 = fcmp ogt float %21, 1.000000e+00
  br i1 %22, label %b2, label %b5

stop:                                             ; preds = %b1
  %23 = icmp slt i64 %15, 0
  %24 = sub i64 %15, %8
  %25 = select i1 %23, i64 %24, i64 %15
  call void @rt_host_trap(ptr %launch, i32 0, i64 %block, i32 %t, i64 %25, i64 %8, i64 0, i64 0)
  unreachable

ok1:                                              ; preds = %b2
  %26 = getelementptr inbounds float, ptr %3, i64 %15
  %27 = load float, ptr %26, align 4
  %28 = fcmp ogt float %27, 9.000000e+00
  br i1 %28, label %b3, label %b4

stop2:                                            ; preds = %b2
  %29 = icmp slt i64 %15, 0
  %30 = sub i64 %15, %8
  %31 = select i1 %29, i64 %30, i64 %15
  call void @rt_host_trap(ptr %launch, i32 1, i64 %block, i32 %t, i64 %31, i64 %8, i64 0, i64 0)
  unreachable

ok3:                                              ; preds = %b3
  %32 = getelementptr inbounds float, ptr %3, i64 %15
  %33 = load float, ptr %32, align 4
  %34 = fsub contract float %33, 9.000000e+00
  %35 = icmp ult i64 %15, %8
  br i1 %35, label %ok5, label %stop6, !prof !2

stop4:                                            ; preds = %b3
  %36 = icmp slt i64 %15, 0
  %37 = sub i64 %15, %8
  %38 = select i1 %36, i64 %37, i64 %15
  call void @rt_host_trap(ptr %launch, i32 2, i64 %block, i32 %t, i64 %38, i64 %8, i64 0, i64 0)
  unreachable

ok5:                                              ; preds = %ok3
  %39 = getelementptr inbounds float, ptr %3, i64 %15
  store float %34, ptr %39, align 4
  br label %b6

stop6:                                            ; preds = %ok3
  %40 = icmp slt i64 %15, 0
  %41 = sub i64 %15, %8
  %42 = select i1 %40, i64 %41, i64 %15
  call void @rt_host_trap(ptr %launch, i32 3, i64 %block, i32 %t, i64 %42, i64 %8, i64 0, i64 0)
  unreachable

ok7:                                              ; preds = %b4
  %43 = getelementptr inbounds float, ptr %3, i64 %15
  %44 = load float, ptr %43, align 4
  %45 = fsub contract float %44, 1.000000e+00
  %46 = icmp ult i64 %15, %8
  br i1 %46, label %ok9, label %stop10, !prof !2

stop8:                                            ; preds = %b4
  %47 = icmp slt i64 %15, 0
  %48 = sub i64 %15, %8
  %49 = select i1 %47, i64 %48, i64 %15
  call void @rt_host_trap(ptr %launch, i32 4, i64 %block, i32 %t, i64 %49, i64 %8, i64 0, i64 0)
  unreachable

ok9:                                              ; preds = %ok7
  %50 = getelementptr inbounds float, ptr %3, i64 %15
  store float %45, ptr %50, align 4
  br label %b6

stop10:                                           ; preds = %ok7
  %51 = icmp slt i64 %15, 0
  %52 = sub i64 %15, %8
  %53 = select i1 %51, i64 %52, i64 %15
  call void @rt_host_trap(ptr %launch, i32 5, i64 %block, i32 %t, i64 %53, i64 %8, i64 0, i64 0)
  unreachable
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

attributes #0 = { nounwind }
attributes #1 = { cold noreturn nounwind }

!0 = !{}
!1 = !{i32 1, i32 1025}
!2 = !{!"branch_weights", i32 1048576, i32 1}
