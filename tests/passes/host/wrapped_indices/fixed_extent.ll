; opt=3
define internal void @k.thread(ptr nonnull align 8 dereferenceable(96) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  %other = alloca [96 x i8], align 8, !pyptx.place !0
  %mine = alloca [128 x i8], align 8, !pyptx.place !1
  %0 = load ptr, ptr %launch, align 8, !invariant.load !2
  %1 = load i64, ptr %0, align 8, !invariant.load !2, !pyptx.field !2
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %3 = load ptr, ptr %2, align 8, !invariant.load !2, !pyptx.field !2
  %4 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %5 = load i32, ptr %4, align 4, !invariant.load !2, !pyptx.field !2
  %6 = zext nneg i32 %5 to i64
  br label %b1

b1:                                               ; preds = %ok, %entry
  %7 = phi i64 [ 0, %entry ], [ %9, %ok ]
  %8 = icmp samesign ult i64 %7, 12
  br i1 %8, label %b2, label %b3

b2:                                               ; preds = %b1
  %9 = add nuw nsw i64 %7, 1
  %10 = icmp samesign ult i64 %7, %6
  br i1 %10, label %ok, label %stop, !prof !3

b3:                                               ; preds = %b1
  %11 = add i64 %1, -1
  %12 = icmp slt i64 %11, 0
  %13 = add i64 %1, 15
  %14 = select i1 %12, i64 %13, i64 %11
  %15 = icmp ult i64 %14, 16
  br i1 %15, label %ok7, label %stop8, !prof !3

ok:                                               ; preds = %b2
  %16 = getelementptr inbounds nuw double, ptr %3, i64 %7
  %17 = load double, ptr %16, align 8
  %18 = getelementptr inbounds nuw double, ptr %mine, i64 %7
  store double %17, ptr %18, align 8
  %19 = load double, ptr %16, align 8
  %20 = getelementptr inbounds nuw double, ptr %other, i64 %7
  store double %19, ptr %20, align 8
  br label %b1

stop:                                             ; preds = %b2
  %.lcssa15 = phi i64 [ %7, %b2 ]
  call void @rt_host_trap_in_line(ptr %launch, i32 0, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %.lcssa15, i64 %6, i64 0, i64 0)
  unreachable

ok7:                                              ; preds = %b3
  %21 = add i64 %1, 11
  %22 = select i1 %12, i64 %21, i64 %11
  %23 = icmp ult i64 %22, 12
  br i1 %23, label %ok9, label %stop10, !prof !3

stop8:                                            ; preds = %b3
  %24 = icmp slt i64 %14, 0
  %25 = add i64 %14, -16
  %26 = select i1 %24, i64 %25, i64 %14
  call void @rt_host_trap_in_line(ptr %launch, i32 4, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %26, i64 16, i64 0, i64 0)
  unreachable

ok9:                                              ; preds = %ok7
  %27 = lshr i64 %1, 59
  %28 = and i64 %27, 16
  %29 = add i64 %1, %28
  %30 = icmp ult i64 %29, 16
  br i1 %30, label %ok11, label %stop12, !prof !3

stop10:                                           ; preds = %ok7
  %31 = icmp slt i64 %22, 0
  %32 = add i64 %22, -12
  %33 = select i1 %31, i64 %32, i64 %22
  call void @rt_host_trap_in_line(ptr %launch, i32 5, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %33, i64 12, i64 0, i64 0)
  unreachable

ok11:                                             ; preds = %ok9
  %.not = icmp eq i32 %5, 0
  br i1 %.not, label %stop14, label %ok13, !prof !4

stop12:                                           ; preds = %ok9
  %34 = icmp slt i64 %29, 0
  %35 = add i64 %29, -16
  %36 = select i1 %34, i64 %35, i64 %29
  call void @rt_host_trap_in_line(ptr %launch, i32 6, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %36, i64 16, i64 0, i64 0)
  unreachable

ok13:                                             ; preds = %ok11
  %37 = getelementptr inbounds nuw double, ptr %mine, i64 %14
  %38 = load double, ptr %37, align 8
  %39 = getelementptr inbounds nuw double, ptr %other, i64 %22
  %40 = load double, ptr %39, align 8
  %41 = fadd contract double %38, %40
  %42 = getelementptr inbounds nuw double, ptr %mine, i64 %29
  %43 = load double, ptr %42, align 8
  %44 = fadd contract double %41, %43
  store double %44, ptr %3, align 8
  ret void

stop14:                                           ; preds = %ok11
  call void @rt_host_trap_in_line(ptr %launch, i32 7, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 0, i64 %6, i64 0, i64 0)
  unreachable
}

declare void @rt_host_trap_in_line(ptr, i32, i32, i32, i32, i32, i32, i64, i64, i64, i64) #2

attributes #0 = { alwaysinline nounwind }
attributes #1 = { cold noreturn nounwind }
attributes #2 = { cold noreturn }
attributes #3 = { nounwind }
attributes #4 = { nocallback nofree nosync nounwind willreturn memory(write) }
attributes #5 = { noinline nounwind optsize }
attributes #6 = { alwaysinline }

!0 = !{!"// local.array[96] at 13:16-48 in k of /tmp/c/t/k.py"}
!1 = !{!"// local.array[128] at 12:15-47 in k of /tmp/c/t/k.py"}
!2 = !{}
!3 = !{!"branch_weights", i32 1048576, i32 1}
!4 = !{!"branch_weights", i32 1, i32 1048576}
!5 = distinct !{!5, !6}
!6 = !{!"llvm.loop.unroll.disable"}
!7 = distinct !{!7, !6}
