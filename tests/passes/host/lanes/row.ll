; opt=3
define internal void @k.thread(ptr nonnull align 8 dereferenceable(96) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  %0 = load ptr, ptr %launch, align 8, !invariant.load !0
  %1 = load ptr, ptr %0, align 8, !invariant.load !0, !pyptx.field !0
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %3 = load i32, ptr %2, align 4, !invariant.load !0, !pyptx.field !0
  %4 = zext nneg i32 %3 to i64
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 12
  %6 = load i32, ptr %5, align 4, !invariant.load !0, !pyptx.field !0
  %7 = zext nneg i32 %6 to i64
  %8 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %9 = load i64, ptr %8, align 8, !invariant.load !0, !pyptx.field !0
  %10 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %11 = load i32, ptr %10, align 4, !invariant.load !0, !pyptx.field !0
  %12 = zext nneg i32 %11 to i64
  %13 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %14 = load i64, ptr %13, align 8, !invariant.load !0, !pyptx.field !0
  %15 = zext nneg i32 %tx to i64
  %16 = icmp sgt i64 %14, %15
  %17 = call i64 @llvm.smax.i64(i64 %14, i64 -9223372036854775552)
  %18 = add nsw i64 %17, -256
  br label %b1

b1:                                               ; preds = %ok1, %entry
  %19 = phi float [ 0.000000e+00, %entry ], [ %56, %ok1 ]
  %20 = phi i64 [ %15, %entry ], [ %22, %ok1 ]
  %21 = phi i1 [ %16, %entry ], [ %57, %ok1 ]
  br i1 %21, label %b2, label %b3

b2:                                               ; preds = %b1
  %22 = add nuw nsw i64 %20, 256
  %23 = icmp eq i64 %9, 0
  %24 = call i64 @llvm.umax.i64(i64 %9, i64 1)
  %25 = sdiv i64 %20, %24
  %26 = srem i64 %20, %24
  %27 = icmp slt i64 %24, 0
  %28 = icmp ne i64 %26, 0
  %29 = and i1 %28, %27
  %.neg = sext i1 %29 to i64
  %30 = add i64 %25, %.neg
  %31 = select i1 %23, i64 0, i64 %30
  %32 = icmp slt i64 %31, 0
  %33 = select i1 %32, i64 %4, i64 0
  %34 = add i64 %31, %33
  %35 = icmp ult i64 %34, %4
  br i1 %35, label %ok, label %stop, !prof !1

b3:                                               ; preds = %b1
  %.lcssa = phi float [ %19, %b1 ]
  %36 = getelementptr inbounds nuw i8, ptr %launch, i64 20
  %37 = load i32, ptr %36, align 4, !range !2, !invariant.load !0, !pyptx.field !0
  %38 = zext nneg i32 %37 to i64
  %39 = zext nneg i32 %bx to i64
  %40 = mul nuw nsw i64 %39, %38
  %41 = add nuw nsw i64 %40, %15
  %42 = icmp samesign ult i64 %41, %12
  br i1 %42, label %ok3, label %stop4, !prof !1

ok:                                               ; preds = %b2
  %43 = select i1 %29, i64 %24, i64 0
  %44 = add i64 %26, %43
  %45 = icmp slt i64 %44, 0
  %46 = select i1 %45, i64 %7, i64 0
  %47 = add i64 %44, %46
  %48 = icmp ult i64 %47, %7
  br i1 %48, label %ok1, label %stop2, !prof !1

stop:                                             ; preds = %b2
  %.lcssa7 = phi i64 [ %34, %b2 ]
  %49 = icmp slt i64 %.lcssa7, 0
  %50 = select i1 %49, i64 %4, i64 0
  %51 = sub nuw i64 %.lcssa7, %50
  call void @rt_host_trap(ptr nonnull %launch, i32 0, i64 %block, i32 %t, i64 %51, i64 %4, i64 0, i64 0)
  unreachable

ok1:                                              ; preds = %ok
  %52 = mul nsw i64 %34, %7
  %53 = getelementptr float, ptr %1, i64 %52
  %54 = getelementptr float, ptr %53, i64 %47
  %55 = load float, ptr %54, align 4
  %56 = fadd contract float %19, %55
  %57 = icmp slt i64 %20, %18
  br label %b1

stop2:                                            ; preds = %ok
  %.lcssa9 = phi i64 [ %47, %ok ]
  %58 = icmp slt i64 %.lcssa9, 0
  %59 = select i1 %58, i64 %7, i64 0
  %60 = sub nuw i64 %.lcssa9, %59
  call void @rt_host_trap(ptr nonnull %launch, i32 1, i64 %block, i32 %t, i64 %60, i64 %7, i64 0, i64 0)
  unreachable

ok3:                                              ; preds = %b3
  %61 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %62 = load ptr, ptr %61, align 8, !invariant.load !0, !pyptx.field !0
  %63 = getelementptr inbounds nuw float, ptr %62, i64 %41
  store float %.lcssa, ptr %63, align 4
  ret void

stop4:                                            ; preds = %b3
  call void @rt_host_trap(ptr nonnull %launch, i32 2, i64 %block, i32 %t, i64 %41, i64 %12, i64 0, i64 0)
  unreachable
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

declare i64 @llvm.smax.i64(i64, i64) #2

declare i64 @llvm.umax.i64(i64, i64) #2

attributes #0 = { alwaysinline nounwind }
attributes #1 = { cold noreturn nounwind }
attributes #2 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }

!0 = !{}
!1 = !{!"branch_weights", i32 1048576, i32 1}
!2 = !{i32 1, i32 1025}
