; opt=3
define internal void @k.thread(ptr nonnull align 8 dereferenceable(96) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  %0 = load ptr, ptr %launch, align 8, !invariant.load !0
  %1 = load ptr, ptr %0, align 8, !invariant.load !0, !pyptx.field !0
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %3 = load i32, ptr %2, align 4, !invariant.load !0, !pyptx.field !0
  %4 = zext nneg i32 %3 to i64
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %6 = load ptr, ptr %5, align 8, !invariant.load !0, !pyptx.field !0
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %8 = load i32, ptr %7, align 4, !invariant.load !0, !pyptx.field !0
  %9 = zext nneg i32 %8 to i64
  %10 = getelementptr inbounds nuw i8, ptr %launch, i64 20
  %11 = load i32, ptr %10, align 4, !range !1, !invariant.load !0, !pyptx.field !0
  %12 = zext nneg i32 %11 to i64
  %13 = zext nneg i32 %bx to i64
  %14 = mul nuw nsw i64 %13, %12
  %15 = zext nneg i32 %tx to i64
  %16 = add nuw nsw i64 %14, %15
  %17 = icmp samesign ult i64 %16, %4
  br i1 %17, label %b1, label %b5

b1:                                               ; preds = %entry
  %18 = call i64 @llvm.smax.i64(i64 %16, i64 3)
  %19 = add nsw i64 %18, -3
  %20 = add nuw nsw i64 %16, 3
  %21 = call i64 @llvm.umin.i64(i64 %20, i64 %4)
  br label %b2

b2:                                               ; preds = %ok, %b1
  %22 = phi float [ 0.000000e+00, %b1 ], [ %30, %ok ]
  %23 = phi i64 [ %19, %b1 ], [ %27, %ok ]
  %24 = icmp slt i64 %23, %21
  br i1 %24, label %b3, label %b4

b3:                                               ; preds = %b2
  %25 = icmp ult i64 %23, %4
  br i1 %25, label %ok, label %stop, !prof !2

b4:                                               ; preds = %b2
  %.lcssa4 = phi float [ %22, %b2 ]
  %26 = icmp samesign ult i64 %16, %9
  br i1 %26, label %ok1, label %stop2, !prof !2

b5:                                               ; preds = %ok1, %entry
  ret void

ok:                                               ; preds = %b3
  %27 = add nsw i64 %23, 1
  %28 = getelementptr inbounds float, ptr %1, i64 %23
  %29 = load float, ptr %28, align 4
  %30 = fadd contract float %22, %29
  br label %b2

stop:                                             ; preds = %b3
  %.lcssa3 = phi i64 [ %23, %b3 ]
  call void @rt_host_trap_in_line(ptr %launch, i32 0, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %.lcssa3, i64 %4, i64 0, i64 0)
  unreachable

ok1:                                              ; preds = %b4
  %31 = getelementptr inbounds nuw float, ptr %6, i64 %16
  store float %.lcssa4, ptr %31, align 4
  br label %b5

stop2:                                            ; preds = %b4
  call void @rt_host_trap_in_line(ptr %launch, i32 1, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %16, i64 %9, i64 0, i64 0)
  unreachable
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

declare i64 @llvm.smax.i64(i64, i64) #2

declare i64 @llvm.umin.i64(i64, i64) #2

declare void @rt_host_trap_in_line(ptr, i32, i32, i32, i32, i32, i32, i64, i64, i64, i64) #3

attributes #0 = { alwaysinline nounwind }
attributes #1 = { cold noreturn nounwind }
attributes #2 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #3 = { cold noreturn }

!0 = !{}
!1 = !{i32 1, i32 1025}
!2 = !{!"branch_weights", i32 1048576, i32 1}
