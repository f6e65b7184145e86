; opt=3
define internal void @k.thread(ptr nonnull align 8 dereferenceable(96) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  %0 = load ptr, ptr %launch, align 8, !invariant.load !0
  %1 = load ptr, ptr %0, align 8, !invariant.load !0, !pyptx.field !0
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %3 = load i32, ptr %2, align 4, !invariant.load !0, !pyptx.field !0
  %4 = zext nneg i32 %3 to i64
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %6 = load i64, ptr %5, align 8, !invariant.load !0, !pyptx.field !0
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %8 = load ptr, ptr %7, align 8, !invariant.load !0, !pyptx.field !0
  %9 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %10 = load i32, ptr %9, align 4, !invariant.load !0, !pyptx.field !0
  %11 = zext nneg i32 %10 to i64
  %12 = getelementptr inbounds nuw i8, ptr %launch, i64 20
  %13 = load i32, ptr %12, align 4, !range !1, !invariant.load !0, !pyptx.field !0
  %14 = zext nneg i32 %13 to i64
  %15 = zext nneg i32 %bx to i64
  %16 = mul nuw nsw i64 %15, %14
  %17 = zext nneg i32 %tx to i64
  %18 = add nuw nsw i64 %16, %17
  %19 = icmp samesign ult i64 %18, %4
  br i1 %19, label %b1, label %b2

b1:                                               ; preds = %entry
  %20 = call i64 @llvm.smax.i64(i64 %18, i64 1)
  %21 = add nsw i64 %20, -1
  %22 = icmp ult i64 %21, %4
  br i1 %22, label %ok, label %stop, !prof !2

b2:                                               ; preds = %ok1, %entry
  ret void

ok:                                               ; preds = %b1
  %23 = call i64 @llvm.umax.i64(i64 %6, i64 1)
  %24 = srem i64 %18, %23
  %.not = icmp eq i64 %24, 0
  %25 = call i64 @llvm.smin.i64(i64 %23, i64 0)
  %26 = select i1 %.not, i64 0, i64 %25
  %27 = add nsw i64 %24, %26
  %28 = srem i64 %27, 1000000
  %29 = icmp slt i64 %28, 0
  %30 = add nsw i64 %28, 1000000
  %31 = select i1 %29, i64 %30, i64 %28
  %32 = icmp ult i64 %31, %11
  br i1 %32, label %ok1, label %stop2, !prof !2

stop:                                             ; preds = %b1
  call void @rt_host_trap(ptr nonnull %launch, i32 0, i64 %block, i32 %t, i64 %21, i64 %4, i64 0, i64 0)
  unreachable

ok1:                                              ; preds = %ok
  %33 = getelementptr inbounds float, ptr %1, i64 %21
  %34 = load float, ptr %33, align 4
  %35 = getelementptr inbounds float, ptr %8, i64 %31
  %36 = fmul float %34, %34
  %37 = fadd float %36, %34
  %38 = fmul float %37, %34
  %39 = fadd float %38, %34
  %40 = fmul float %39, %34
  %41 = fadd float %40, %34
  %42 = fmul float %41, %34
  %43 = fadd float %42, %34
  %44 = fmul float %43, %34
  %45 = fadd float %44, %34
  %46 = fmul float %45, %34
  store float %46, ptr %35, align 4
  br label %b2

stop2:                                            ; preds = %ok
  call void @rt_host_trap(ptr nonnull %launch, i32 1, i64 %block, i32 %t, i64 %31, i64 %11, i64 0, i64 0)
  unreachable
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

declare i64 @llvm.smax.i64(i64, i64) #2

declare i64 @llvm.umax.i64(i64, i64) #2

declare i64 @llvm.smin.i64(i64, i64) #2

attributes #0 = { alwaysinline nounwind }
attributes #1 = { cold noreturn nounwind }
attributes #2 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }

!0 = !{}
!1 = !{i32 1, i32 1025}
!2 = !{!"branch_weights", i32 1048576, i32 1}
