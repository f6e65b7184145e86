; opt=3 before=fission
define internal void @k.thread(ptr nonnull align 8 dereferenceable(96) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  %0 = load ptr, ptr %launch, align 8, !invariant.load !0
  %1 = load ptr, ptr %0, align 8, !invariant.load !0, !pyptx.field !0
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %3 = load i32, ptr %2, align 4, !invariant.load !0, !pyptx.field !0
  %4 = zext nneg i32 %3 to i64
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %6 = load i32, ptr %5, align 4, !invariant.load !0, !pyptx.field !0
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 28
  %8 = load i32, ptr %7, align 4, !invariant.load !0, !pyptx.field !0
  %9 = zext nneg i32 %8 to i64
  %10 = zext nneg i32 %bx to i64
  %11 = zext nneg i32 %tx to i64
  %12 = getelementptr inbounds nuw i8, ptr %launch, i64 20
  %13 = load i32, ptr %12, align 4, !range !1, !invariant.load !0, !pyptx.field !0
  %14 = zext nneg i32 %13 to i64
  br label %b1

b1:                                               ; preds = %ok1, %entry
  %15 = phi float [ 0.000000e+00, %entry ], [ %22, %ok1 ]
  %16 = phi i64 [ %11, %entry ], [ %19, %ok1 ]
  %17 = icmp samesign ult i64 %16, %4
  br i1 %17, label %ok1, label %b3

b3:                                               ; preds = %b1
  %.lcssa = phi float [ %15, %b1 ]
  %18 = icmp ult i32 %tx, 64
  br i1 %18, label %ok3, label %stop4, !prof !2

ok1:                                              ; preds = %b1
  %19 = add nuw nsw i64 %16, %14
  %20 = getelementptr inbounds nuw float, ptr %1, i64 %16
  %21 = load float, ptr %20, align 4
  %22 = fadd contract float %15, %21
  br label %b1

ok3:                                              ; preds = %b3
  %23 = getelementptr inbounds nuw i8, ptr %launch, i64 40
  %24 = load ptr, ptr %23, align 8, !invariant.load !0, !pyptx.field !0
  %25 = getelementptr inbounds nuw float, ptr %24, i64 %11
  store float %.lcssa, ptr %25, align 4
  %26 = call i32 @pyptx.barrier(i32 0, i1 false)
  %27 = xor i64 %11, 2
  %28 = getelementptr inbounds nuw float, ptr %24, i64 %27
  %29 = load float, ptr %28, align 4
  %30 = bitcast float %29 to i32
  %31 = zext i32 %30 to i64
  %32 = call i64 @pyptx.meet(i32 7, i32 6, i32 -1, i64 %31, i32 1)
  %33 = icmp ult i32 %bx, %6
  br i1 %33, label %ok7, label %stop8, !prof !2

stop4:                                            ; preds = %b3
  call void @rt_host_trap(ptr nonnull %launch, i32 2, i64 %block, i32 %t, i64 %11, i64 64, i64 0, i64 0)
  unreachable

ok7:                                              ; preds = %ok3
  %34 = icmp ult i32 %tx, %8
  br i1 %34, label %ok9, label %stop10, !prof !2

stop8:                                            ; preds = %ok3
  %35 = zext nneg i32 %6 to i64
  call void @rt_host_trap(ptr nonnull %launch, i32 4, i64 %block, i32 %t, i64 %10, i64 %35, i64 0, i64 0)
  unreachable

ok9:                                              ; preds = %ok7
  %36 = trunc i64 %32 to i32
  %37 = bitcast i32 %36 to float
  %38 = fadd contract float %29, %37
  %39 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %40 = load ptr, ptr %39, align 8, !invariant.load !0, !pyptx.field !0
  %41 = mul nuw nsw i64 %10, %9
  %42 = getelementptr inbounds nuw float, ptr %40, i64 %41
  %43 = getelementptr inbounds nuw float, ptr %42, i64 %11
  store float %38, ptr %43, align 4
  ret void

stop10:                                           ; preds = %ok7
  call void @rt_host_trap(ptr nonnull %launch, i32 5, i64 %block, i32 %t, i64 %11, i64 %9, i64 0, i64 0)
  unreachable
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

declare i32 @pyptx.barrier(i32, i1) #2

declare i64 @pyptx.meet(i32, i32, i32, i64, i32) #3

attributes #0 = { nounwind }
attributes #1 = { cold noreturn nounwind }
attributes #2 = { convergent nounwind }
attributes #3 = { convergent nomerge nounwind }

!0 = !{}
!1 = !{i32 1, i32 1025}
!2 = !{!"branch_weights", i32 1048576, i32 1}
