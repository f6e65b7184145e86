; opt=3
; Divided by what is not the number of columns.
define internal void @k.thread(ptr nonnull align 8 dereferenceable(96) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  %0 = load ptr, ptr %launch, align 8, !invariant.load !0
  %1 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %2 = load i32, ptr %1, align 4, !invariant.load !0, !pyptx.field !0
  %3 = zext nneg i32 %2 to i64
  %4 = getelementptr inbounds nuw i8, ptr %0, i64 12
  %5 = load i32, ptr %4, align 4, !invariant.load !0, !pyptx.field !0
  %6 = zext nneg i32 %5 to i64
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %8 = load i32, ptr %7, align 4, !invariant.load !0, !pyptx.field !0
  %9 = getelementptr inbounds nuw i8, ptr %launch, i64 20
  %10 = load i32, ptr %9, align 4, !range !1, !invariant.load !0, !pyptx.field !0
  %11 = zext nneg i32 %10 to i64
  %12 = zext nneg i32 %bx to i64
  %13 = mul nuw nsw i64 %12, %11
  %14 = zext nneg i32 %tx to i64
  %15 = add nuw nsw i64 %13, %14
  %16 = icmp eq i32 %8, 0
  %narrow = call i32 @llvm.umax.i32(i32 %8, i32 1)
  %17 = zext i32 %narrow to i64
  %18 = udiv i64 %15, %17
  %19 = select i1 %16, i64 0, i64 %18
  %20 = urem i64 %15, %17
  %21 = icmp samesign ult i64 %19, %3
  br i1 %21, label %ok, label %stop, !prof !2

ok:                                               ; preds = %entry
  %22 = icmp samesign ult i64 %20, %6
  br i1 %22, label %ok1, label %stop2, !prof !2

stop:                                             ; preds = %entry
  call void @rt_host_trap(ptr nonnull %launch, i32 0, i64 %block, i32 %t, i64 %19, i64 %3, i64 0, i64 0)
  unreachable

ok1:                                              ; preds = %ok
  %23 = load ptr, ptr %0, align 8, !invariant.load !0, !pyptx.field !0
  %24 = trunc i64 %15 to i32
  %25 = mul nuw nsw i64 %19, %6
  %26 = getelementptr i32, ptr %23, i64 %25
  %27 = getelementptr i32, ptr %26, i64 %20
  store i32 %24, ptr %27, align 4
  ret void

stop2:                                            ; preds = %ok
  call void @rt_host_trap(ptr nonnull %launch, i32 1, i64 %block, i32 %t, i64 %20, i64 %6, i64 0, i64 0)
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
