; The second load of v[i, 1] is behind a store to v[i, 0].
define internal void @k.thread(ptr nonnull align 8 dereferenceable(96) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
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
  %11 = getelementptr inbounds i8, ptr %10, i64 12
  %12 = load i32, ptr %11, align 4, !invariant.load !0, !pyptx.field !0
  %13 = zext nneg i32 %12 to i64
  br label %b0

b0:                                               ; preds = %entry
  %14 = getelementptr inbounds i8, ptr %launch, i64 20
  %15 = load i32, ptr %14, align 4, !range !1, !invariant.load !0, !pyptx.field !0
  %16 = zext nneg i32 %15 to i64
  %17 = zext nneg i32 %bx to i64
  %18 = mul nsw i64 %17, %16
  %19 = zext nneg i32 %tx to i64
  %20 = add nsw i64 %18, %19
  %21 = icmp slt i64 %20, %8
  br i1 %21, label %b1, label %b2

b1:                                               ; preds = %b0
  %22 = icmp ult i64 %20, %8
  br i1 %22, label %ok, label %stop, !prof !2

b2:                                               ; preds = %ok17, %b0
  ret void

ok:                                               ; preds = %b1
  %23 = icmp ult i64 0, %13
  br i1 %23, label %ok1, label %stop2, !prof !2

stop:                                             ; preds = %b1
  %24 = icmp slt i64 %20, 0
  %25 = sub i64 %20, %8
  %26 = select i1 %24, i64 %25, i64 %20
  call void @rt_host_trap(ptr %launch, i32 0, i64 %block, i32 %t, i64 %26, i64 %8, i64 0, i64 0)
  unreachable

ok1:                                              ; preds = %ok
  %27 = mul nsw i64 %20, %13
  %28 = add nsw i64 %27, 0
  %29 = getelementptr inbounds float, ptr %3, i64 %28
  %30 = load float, ptr %29, align 4
  %31 = icmp ult i64 %20, %8
  br i1 %31, label %ok3, label %stop4, !prof !2

stop2:                                            ; preds = %ok
  call void @rt_host_trap(ptr %launch, i32 1, i64 %block, i32 %t, i64 0, i64 %13, i64 0, i64 0)
  unreachable

ok3:                                              ; preds = %ok1
  %32 = icmp ult i64 1, %13
  br i1 %32, label %ok5, label %stop6, !prof !2

stop4:                                            ; preds = %ok1
  %33 = icmp slt i64 %20, 0
  %34 = sub i64 %20, %8
  %35 = select i1 %33, i64 %34, i64 %20
  call void @rt_host_trap(ptr %launch, i32 2, i64 %block, i32 %t, i64 %35, i64 %8, i64 0, i64 0)
  unreachable

ok5:                                              ; preds = %ok3
  %36 = mul nsw i64 %20, %13
  %37 = add nsw i64 %36, 1
  %38 = getelementptr inbounds float, ptr %3, i64 %37
  %39 = load float, ptr %38, align 4
  %40 = fadd contract float %30, %39
  %41 = icmp ult i64 %20, %8
  br i1 %41, label %ok7, label %stop8, !prof !2

stop6:                                            ; preds = %ok3
  call void @rt_host_trap(ptr %launch, i32 3, i64 %block, i32 %t, i64 1, i64 %13, i64 0, i64 0)
  unreachable

ok7:                                              ; preds = %ok5
  %42 = icmp ult i64 0, %13
  br i1 %42, label %ok9, label %stop10, !prof !2

stop8:                                            ; preds = %ok5
  %43 = icmp slt i64 %20, 0
  %44 = sub i64 %20, %8
  %45 = select i1 %43, i64 %44, i64 %20
  call void @rt_host_trap(ptr %launch, i32 4, i64 %block, i32 %t, i64 %45, i64 %8, i64 0, i64 0)
  unreachable

ok9:                                              ; preds = %ok7
  %46 = mul nsw i64 %20, %13
  %47 = add nsw i64 %46, 0
  %48 = getelementptr inbounds float, ptr %3, i64 %47
  store float %40, ptr %48, align 4
  %49 = icmp ult i64 %20, %8
  br i1 %49, label %ok11, label %stop12, !prof !2

stop10:                                           ; preds = %ok7
  call void @rt_host_trap(ptr %launch, i32 5, i64 %block, i32 %t, i64 0, i64 %13, i64 0, i64 0)
  unreachable

ok11:                                             ; preds = %ok9
  %50 = icmp ult i64 1, %13
  br i1 %50, label %ok13, label %stop14, !prof !2

stop12:                                           ; preds = %ok9
  %51 = icmp slt i64 %20, 0
  %52 = sub i64 %20, %8
  %53 = select i1 %51, i64 %52, i64 %20
  call void @rt_host_trap(ptr %launch, i32 6, i64 %block, i32 %t, i64 %53, i64 %8, i64 0, i64 0)
  unreachable

ok13:                                             ; preds = %ok11
  %54 = mul nsw i64 %20, %13
  %55 = add nsw i64 %54, 1
  %56 = getelementptr inbounds float, ptr %3, i64 %55
  %57 = load float, ptr %56, align 4
  %58 = fsub contract float %57, %30
  %59 = icmp ult i64 %20, %8
  br i1 %59, label %ok15, label %stop16, !prof !2

stop14:                                           ; preds = %ok11
  call void @rt_host_trap(ptr %launch, i32 7, i64 %block, i32 %t, i64 1, i64 %13, i64 0, i64 0)
  unreachable

ok15:                                             ; preds = %ok13
  %60 = icmp ult i64 1, %13
  br i1 %60, label %ok17, label %stop18, !prof !2

stop16:                                           ; preds = %ok13
  %61 = icmp slt i64 %20, 0
  %62 = sub i64 %20, %8
  %63 = select i1 %61, i64 %62, i64 %20
  call void @rt_host_trap(ptr %launch, i32 8, i64 %block, i32 %t, i64 %63, i64 %8, i64 0, i64 0)
  unreachable

ok17:                                             ; preds = %ok15
  %64 = mul nsw i64 %20, %13
  %65 = add nsw i64 %64, 1
  %66 = getelementptr inbounds float, ptr %3, i64 %65
  store float %58, ptr %66, align 4
  br label %b2

stop18:                                           ; preds = %ok15
  call void @rt_host_trap(ptr %launch, i32 9, i64 %block, i32 %t, i64 1, i64 %13, i64 0, i64 0)
  unreachable
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

attributes #0 = { nounwind }
attributes #1 = { cold noreturn nounwind }

!0 = !{}
!1 = !{i32 1, i32 1025}
!2 = !{!"branch_weights", i32 1048576, i32 1}
