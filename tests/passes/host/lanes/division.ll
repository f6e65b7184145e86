; opt=3
define internal void @k.thread(ptr nonnull align 8 dereferenceable(96) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  %0 = load ptr, ptr %launch, align 8, !invariant.load !0
  %1 = load ptr, ptr %0, align 8, !invariant.load !0, !pyptx.field !0
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %3 = load ptr, ptr %2, align 8, !invariant.load !0, !pyptx.field !0
  %4 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %5 = load i32, ptr %4, align 4, !invariant.load !0, !pyptx.field !0
  %6 = zext nneg i32 %5 to i64
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %8 = load ptr, ptr %7, align 8, !invariant.load !0, !pyptx.field !0
  %9 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %10 = load i32, ptr %9, align 4, !invariant.load !0, !pyptx.field !0
  %11 = zext nneg i32 %10 to i64
  %12 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %13 = load i32, ptr %12, align 4, !invariant.load !0, !pyptx.field !0
  %14 = zext nneg i32 %13 to i64
  %15 = getelementptr inbounds nuw i8, ptr %launch, i64 20
  %16 = load i32, ptr %15, align 4, !range !1, !invariant.load !0, !pyptx.field !0
  %17 = zext nneg i32 %16 to i64
  %18 = zext nneg i32 %bx to i64
  %19 = mul nuw nsw i64 %18, %17
  %20 = zext nneg i32 %tx to i64
  %21 = add nuw nsw i64 %19, %20
  %22 = icmp samesign ult i64 %21, %14
  br i1 %22, label %ok, label %b2

b2:                                               ; preds = %ok3, %entry
  ret void

ok:                                               ; preds = %entry
  %23 = icmp samesign ult i64 %21, %6
  br i1 %23, label %ok1, label %stop2, !prof !2

ok1:                                              ; preds = %ok
  %24 = icmp samesign ult i64 %21, %11
  br i1 %24, label %ok3, label %stop4, !prof !2

stop2:                                            ; preds = %ok
  call void @rt_host_trap(ptr nonnull %launch, i32 1, i64 %block, i32 %t, i64 %21, i64 %6, i64 0, i64 0)
  unreachable

ok3:                                              ; preds = %ok1
  %25 = getelementptr inbounds nuw i32, ptr %3, i64 %21
  %26 = load i32, ptr %25, align 4
  %27 = icmp eq i32 %26, 0
  %28 = getelementptr inbounds nuw i32, ptr %1, i64 %21
  %29 = load i32, ptr %28, align 4
  %30 = call i32 @llvm.umax.i32(i32 %26, i32 1)
  %31 = udiv i32 %29, %30
  %32 = select i1 %27, i32 0, i32 %31
  %33 = getelementptr inbounds nuw i32, ptr %8, i64 %21
  store i32 %32, ptr %33, align 4
  br label %b2

stop4:                                            ; preds = %ok1
  call void @rt_host_trap(ptr nonnull %launch, i32 2, i64 %block, i32 %t, i64 %21, i64 %11, i64 0, i64 0)
  unreachable
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

declare i32 @llvm.umax.i32(i32, i32) #2

attributes #0 = { alwaysinline nounwind }
attributes #1 = { cold noreturn nounwind }
attributes #2 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }

!0 = !{}
!1 = !{i32 1, i32 1025}
!2 = !{!"branch_weights", i32 1048576, i32 1}
