; opt=3
define internal void @k.thread(ptr nonnull align 8 dereferenceable(72) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  %a = alloca [16 x i8], align 4, !pyptx.place !0
  %0 = load ptr, ptr %launch, align 8, !invariant.load !1
  %1 = load ptr, ptr %0, align 8, !invariant.load !1, !pyptx.field !1
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %3 = load i32, ptr %2, align 4, !invariant.load !1, !pyptx.field !1
  %4 = zext nneg i32 %3 to i64
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %6 = load i64, ptr %5, align 8, !invariant.load !1, !pyptx.field !1
  %7 = getelementptr inbounds nuw i8, ptr %launch, i64 20
  %8 = load i32, ptr %7, align 4, !range !2, !invariant.load !1, !pyptx.field !1
  %9 = zext nneg i32 %8 to i64
  %10 = zext nneg i32 %bx to i64
  %11 = mul nuw nsw i64 %10, %9
  %12 = zext nneg i32 %tx to i64
  %13 = add nuw nsw i64 %11, %12
  br label %b1

b1:                                               ; preds = %ok1, %entry
  %14 = phi i64 [ 0, %entry ], [ %16, %ok1 ]
  %15 = icmp slt i64 %14, %6
  br i1 %15, label %b2, label %b3

b2:                                               ; preds = %b1
  %16 = add nuw nsw i64 %14, 1
  %17 = add nuw i64 %13, %14
  %18 = icmp ult i64 %17, %4
  br i1 %18, label %ok1, label %stop, !prof !3

b3:                                               ; preds = %b1
  %19 = icmp samesign ult i64 %13, %4
  br i1 %19, label %ok3, label %stop4, !prof !3

stop:                                             ; preds = %b2
  %.lcssa = phi i64 [ %17, %b2 ]
  %20 = icmp slt i64 %.lcssa, 0
  %21 = select i1 %20, i64 %4, i64 0
  %22 = sub nuw i64 %.lcssa, %21
  call void @rt_host_trap(ptr nonnull %launch, i32 0, i64 %block, i32 %t, i64 %22, i64 %4, i64 0, i64 0)
  unreachable

ok1:                                              ; preds = %b2
  %23 = and i64 %14, 3
  %24 = getelementptr inbounds float, ptr %1, i64 %17
  %25 = load float, ptr %24, align 4
  %26 = getelementptr inbounds nuw float, ptr %a, i64 %23
  store float %25, ptr %26, align 4
  br label %b1

ok3:                                              ; preds = %b3
  %27 = getelementptr inbounds nuw i8, ptr %a, i64 8
  %28 = load float, ptr %27, align 4
  %29 = getelementptr inbounds nuw float, ptr %1, i64 %13
  store float %28, ptr %29, align 4
  ret void

stop4:                                            ; preds = %b3
  call void @rt_host_trap(ptr nonnull %launch, i32 2, i64 %block, i32 %t, i64 %13, i64 %4, i64 0, i64 0)
  unreachable
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

attributes #0 = { alwaysinline nounwind }
attributes #1 = { cold noreturn nounwind }

!0 = !{!"// local.array[16] at 7:8-36 in k of k.py"}
!1 = !{}
!2 = !{i32 1, i32 1025}
!3 = !{!"branch_weights", i32 1048576, i32 1}
