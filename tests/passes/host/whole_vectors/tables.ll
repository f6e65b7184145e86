; shared=768 before=fission vbmi
define internal void @k.thread(ptr nonnull align 8 dereferenceable(96) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  %0 = load ptr, ptr %launch, align 8, !invariant.load !0
  %1 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %2 = load i32, ptr %1, align 4, !invariant.load !0, !pyptx.field !0
  %3 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %4 = load ptr, ptr %3, align 8, !invariant.load !0, !pyptx.field !0
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %6 = load i32, ptr %5, align 4, !invariant.load !0, !pyptx.field !0
  %7 = zext nneg i32 %6 to i64
  %8 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %9 = load i32, ptr %8, align 4, !invariant.load !0, !pyptx.field !0
  %10 = getelementptr inbounds nuw i8, ptr %launch, i64 40
  %11 = load ptr, ptr %10, align 8, !invariant.load !0
  %second = getelementptr inbounds nuw i8, ptr %11, i64 256
  %12 = zext nneg i32 %tx to i64
  %13 = icmp ult i32 %tx, %2
  br i1 %13, label %ok, label %stop, !prof !1

ok:                                               ; preds = %entry
  %14 = icmp ult i32 %tx, 256
  br i1 %14, label %ok1, label %stop2, !prof !1

stop:                                             ; preds = %entry
  %15 = zext nneg i32 %2 to i64
  call void @rt_host_trap(ptr nonnull %launch, i32 0, i64 %block, i32 %t, i64 %12, i64 %15, i64 0, i64 0)
  unreachable

ok1:                                              ; preds = %ok
  %16 = load ptr, ptr %0, align 8, !invariant.load !0, !pyptx.field !0
  %17 = getelementptr inbounds nuw i8, ptr %16, i64 %12
  %18 = load i8, ptr %17, align 1
  %19 = getelementptr inbounds nuw i8, ptr %11, i64 %12
  store i8 %18, ptr %19, align 1
  %20 = load i8, ptr %17, align 1
  %21 = getelementptr inbounds nuw i8, ptr %second, i64 %12
  store i8 %20, ptr %21, align 1
  %22 = getelementptr inbounds nuw i8, ptr %21, i64 256
  store i8 %20, ptr %22, align 1
  %23 = call i32 @pyptx.barrier(i32 0, i1 false)
  %24 = icmp ult i32 %tx, %6
  br i1 %24, label %ok11, label %stop10, !prof !1

stop2:                                            ; preds = %ok
  call void @rt_host_trap(ptr nonnull %launch, i32 1, i64 %block, i32 %t, i64 %12, i64 256, i64 0, i64 0)
  unreachable

stop10:                                           ; preds = %ok1
  call void @rt_host_trap(ptr nonnull %launch, i32 5, i64 %block, i32 %t, i64 %12, i64 %7, i64 0, i64 0)
  unreachable

ok11:                                             ; preds = %ok1
  %25 = add nuw nsw i64 %12, 1
  %26 = icmp samesign ult i64 %25, %7
  br i1 %26, label %ok13, label %stop14, !prof !1

ok13:                                             ; preds = %ok11
  %27 = getelementptr inbounds nuw i8, ptr %4, i64 %12
  %28 = load i8, ptr %27, align 1
  %29 = zext i8 %28 to i64
  %30 = getelementptr inbounds nuw i8, ptr %11, i64 %29
  %31 = load i8, ptr %30, align 1
  %32 = zext i8 %31 to i64
  %33 = getelementptr inbounds nuw i8, ptr %4, i64 %25
  %34 = load i8, ptr %33, align 1
  %35 = zext i8 %34 to i64
  %36 = add nuw nsw i64 %32, %35
  %37 = icmp samesign ult i64 %36, 200
  %.v = select i1 %37, i64 312, i64 -200
  %38 = add nsw i64 %36, %.v
  %39 = icmp ult i64 %38, 512
  br i1 %39, label %ok15, label %stop16, !prof !1

stop14:                                           ; preds = %ok11
  call void @rt_host_trap(ptr nonnull %launch, i32 7, i64 %block, i32 %t, i64 %25, i64 %7, i64 0, i64 0)
  unreachable

ok15:                                             ; preds = %ok13
  %40 = icmp ult i32 %tx, %9
  br i1 %40, label %ok17, label %stop18, !prof !1

stop16:                                           ; preds = %ok13
  %41 = icmp slt i64 %38, 0
  %42 = add nsw i64 %38, -512
  %43 = select i1 %41, i64 %42, i64 %38
  call void @rt_host_trap(ptr nonnull %launch, i32 8, i64 %block, i32 %t, i64 %43, i64 512, i64 0, i64 0)
  unreachable

ok17:                                             ; preds = %ok15
  %44 = getelementptr inbounds nuw i8, ptr %second, i64 %38
  %45 = load i8, ptr %44, align 1
  %46 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %47 = load ptr, ptr %46, align 8, !invariant.load !0, !pyptx.field !0
  %48 = zext i8 %45 to i32
  %49 = getelementptr inbounds nuw i32, ptr %47, i64 %12
  store i32 %48, ptr %49, align 4
  ret void

stop18:                                           ; preds = %ok15
  %50 = zext nneg i32 %9 to i64
  call void @rt_host_trap(ptr nonnull %launch, i32 9, i64 %block, i32 %t, i64 %12, i64 %50, i64 0, i64 0)
  unreachable
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

declare i32 @pyptx.barrier(i32, i1) #2

attributes #0 = { nounwind }
attributes #1 = { cold noreturn nounwind }
attributes #2 = { convergent nounwind }

!0 = !{}
!1 = !{!"branch_weights", i32 1048576, i32 1}
