; opt=3 before=fission shared=1536
define internal void @k.thread(ptr nonnull align 8 dereferenceable(96) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  %0 = load ptr, ptr %launch, align 8, !invariant.load !0
  %1 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %2 = load i32, ptr %1, align 4, !invariant.load !0, !pyptx.field !0
  %3 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %4 = load i64, ptr %3, align 8, !invariant.load !0, !pyptx.field !0
  %5 = getelementptr inbounds nuw i8, ptr %launch, i64 40
  %6 = load ptr, ptr %5, align 8, !invariant.load !0, !pyptx.field !0
  %7 = zext nneg i32 %tx to i64
  %8 = icmp ult i32 %tx, %2
  br i1 %8, label %ok, label %stop, !prof !1

b1:                                               ; preds = %ok1
  %9 = or disjoint i64 %7, 1
  %10 = icmp slt i64 %9, %4
  br i1 %10, label %ok7, label %b3

b3:                                               ; preds = %ok7, %b1, %ok1
  %11 = call i32 @pyptx.barrier(i32 0, i1 false)
  %12 = getelementptr inbounds nuw i8, ptr %19, i64 4
  %13 = load float, ptr %12, align 4
  store float %13, ptr %15, align 4
  ret void

ok:                                               ; preds = %entry
  %14 = load ptr, ptr %0, align 8, !invariant.load !0, !pyptx.field !0
  %15 = getelementptr inbounds nuw float, ptr %14, i64 %7
  %16 = icmp ult i32 %tx, 128
  br i1 %16, label %ok1, label %stop2, !prof !1

stop:                                             ; preds = %entry
  %17 = zext nneg i32 %2 to i64
  call void @rt_host_trap(ptr nonnull %launch, i32 0, i64 %block, i32 %t, i64 %7, i64 %17, i64 0, i64 0)
  unreachable

ok1:                                              ; preds = %ok
  %18 = load float, ptr %15, align 4
  %.idx15 = mul nuw nsw i64 %7, 12
  %19 = getelementptr inbounds nuw i8, ptr %6, i64 %.idx15
  store float %18, ptr %19, align 4
  %20 = call i32 @pyptx.barrier(i32 0, i1 false)
  %21 = and i64 %7, 1
  %22 = icmp eq i64 %21, 0
  br i1 %22, label %b1, label %b3

stop2:                                            ; preds = %ok
  call void @rt_host_trap(ptr nonnull %launch, i32 1, i64 %block, i32 %t, i64 %7, i64 128, i64 0, i64 0)
  unreachable

ok7:                                              ; preds = %b1
  %.idx = mul nuw nsw i64 %9, 12
  %23 = getelementptr inbounds nuw i8, ptr %6, i64 %.idx
  %24 = load float, ptr %23, align 4
  %25 = load float, ptr %19, align 4
  %26 = fsub contract float %24, %25
  %27 = getelementptr inbounds nuw i8, ptr %19, i64 4
  store float %26, ptr %27, align 4
  %28 = fadd contract float %26, 1.000000e+00
  %29 = getelementptr inbounds nuw i8, ptr %19, i64 8
  store float %28, ptr %29, align 4
  br label %b3
}

; Function Attrs: cold noreturn nounwind
declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

; Function Attrs: convergent nounwind
declare i32 @pyptx.barrier(i32, i1) #2

attributes #0 = { nounwind }
attributes #1 = { cold noreturn nounwind }
attributes #2 = { convergent nounwind }

!0 = !{}
!1 = !{!"branch_weights", i32 1048576, i32 1}
