; shared=256
define internal void @k.thread(ptr nonnull align 8 dereferenceable(96) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  %own = alloca [16 x i8], align 4
  %kept = alloca [16 x i8], align 4
  %0 = load ptr, ptr %launch, align 8, !invariant.load !0
  %1 = load ptr, ptr %0, align 8, !invariant.load !0, !pyptx.field !0
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %3 = load i32, ptr %2, align 4, !invariant.load !0, !pyptx.field !0
  %4 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %5 = load i32, ptr %4, align 4, !invariant.load !0, !pyptx.field !0
  %6 = getelementptr inbounds nuw i8, ptr %launch, i64 40
  %7 = load ptr, ptr %6, align 8, !invariant.load !0, !pyptx.field !0
  %8 = zext nneg i32 %tx to i64
  %9 = icmp ult i32 %tx, %3
  br i1 %9, label %ok, label %stop, !prof !1

b1:                                               ; preds = %b2, %ok1
  %10 = phi i64 [ 0, %ok1 ], [ %12, %b2 ]
  %11 = icmp samesign ult i64 %10, 4
  br i1 %11, label %b2, label %b3

b2:                                               ; preds = %b1
  %12 = add nuw nsw i64 %10, 1
  %13 = add nuw nsw i64 %10, %8
  %14 = and i64 %13, 63
  %15 = getelementptr inbounds nuw i32, ptr %7, i64 %14
  %16 = load i32, ptr %15, align 4
  %17 = getelementptr inbounds nuw i32, ptr %kept, i64 %10
  store i32 %16, ptr %17, align 4
  br label %b1

b3:                                               ; preds = %b1
  %18 = call i32 @pyptx.barrier(i32 0, i1 false)
  %19 = and i64 %8, 3
  %20 = getelementptr inbounds nuw i32, ptr %kept, i64 %19
  %21 = load i32, ptr %20, align 4
  store i32 %21, ptr %42, align 4
  %22 = call i32 @pyptx.barrier(i32 0, i1 false)
  br label %b4

b4:                                               ; preds = %b5, %b3
  %23 = phi i64 [ 0, %b3 ], [ %25, %b5 ]
  %24 = icmp samesign ult i64 %23, 4
  br i1 %24, label %b5, label %b7.preheader

b7.preheader:                                     ; preds = %b4
  br label %b7

b5:                                               ; preds = %b4
  %25 = add nuw nsw i64 %23, 1
  %26 = shl nuw nsw i64 %23, 1
  %27 = add nuw nsw i64 %26, %8
  %28 = and i64 %27, 63
  %29 = getelementptr inbounds nuw i32, ptr %7, i64 %28
  %30 = load i32, ptr %29, align 4
  %31 = getelementptr inbounds nuw i32, ptr %own, i64 %23
  store i32 %30, ptr %31, align 4
  br label %b4

b7:                                               ; preds = %b7.preheader, %b8
  %32 = phi i64 [ %34, %b8 ], [ 0, %b7.preheader ]
  %33 = icmp samesign ult i64 %32, 3
  br i1 %33, label %b8, label %ok19

b8:                                               ; preds = %b7
  %34 = add nuw nsw i64 %32, 1
  %35 = getelementptr inbounds nuw i32, ptr %own, i64 %34
  %36 = load i32, ptr %35, align 4
  %37 = getelementptr inbounds nuw i32, ptr %own, i64 %32
  store i32 %36, ptr %37, align 4
  br label %b7

ok:                                               ; preds = %entry
  %38 = icmp ult i32 %tx, 64
  br i1 %38, label %ok1, label %stop2, !prof !1

stop:                                             ; preds = %entry
  %39 = zext nneg i32 %3 to i64
  call void @rt_host_trap(ptr nonnull %launch, i32 0, i64 %block, i32 %t, i64 %8, i64 %39, i64 0, i64 0)
  unreachable

ok1:                                              ; preds = %ok
  %40 = getelementptr inbounds nuw i32, ptr %1, i64 %8
  %41 = load i32, ptr %40, align 4
  %42 = getelementptr inbounds nuw i32, ptr %7, i64 %8
  store i32 %41, ptr %42, align 4
  %43 = call i32 @pyptx.barrier(i32 0, i1 false)
  br label %b1

stop2:                                            ; preds = %ok
  call void @rt_host_trap(ptr nonnull %launch, i32 1, i64 %block, i32 %t, i64 %8, i64 64, i64 0, i64 0)
  unreachable

ok19:                                             ; preds = %b7
  %44 = icmp ult i32 %tx, %5
  br i1 %44, label %ok21, label %stop22, !prof !1

ok21:                                             ; preds = %ok19
  %45 = getelementptr inbounds nuw i32, ptr %own, i64 %19
  %46 = load i32, ptr %45, align 4
  %47 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %48 = load ptr, ptr %47, align 8, !invariant.load !0, !pyptx.field !0
  %49 = getelementptr inbounds nuw i32, ptr %48, i64 %8
  store i32 %46, ptr %49, align 4
  ret void

stop22:                                           ; preds = %ok19
  %50 = zext nneg i32 %5 to i64
  call void @rt_host_trap(ptr nonnull %launch, i32 11, i64 %block, i32 %t, i64 %8, i64 %50, i64 0, i64 0)
  unreachable
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

declare i32 @pyptx.barrier(i32, i1) #2

attributes #0 = { nounwind }
attributes #1 = { cold noreturn nounwind }
attributes #2 = { convergent nounwind }

!0 = !{}
!1 = !{!"branch_weights", i32 1048576, i32 1}
