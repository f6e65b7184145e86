; shared=512 before=fission avx512
; One loop over the lanes for both atomics.
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
  %10 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %11 = load ptr, ptr %10, align 8, !invariant.load !0, !pyptx.field !0
  %12 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %13 = load i32, ptr %12, align 4, !invariant.load !0, !pyptx.field !0
  %14 = getelementptr inbounds nuw i8, ptr %launch, i64 40
  %15 = load ptr, ptr %14, align 8, !invariant.load !0
  %least = getelementptr inbounds nuw i8, ptr %15, i64 256
  %16 = zext nneg i32 %tx to i64
  %17 = icmp ult i32 %tx, 64
  br i1 %17, label %ok, label %b2

b2:                                               ; preds = %ok, %entry
  %18 = call i32 @pyptx.barrier(i32 0, i1 false)
  %19 = getelementptr inbounds nuw i8, ptr %launch, i64 20
  %20 = load i32, ptr %19, align 4, !range !1, !invariant.load !0, !pyptx.field !0
  %21 = zext nneg i32 %20 to i64
  %22 = zext nneg i32 %bx to i64
  %23 = mul nuw nsw i64 %22, %21
  %24 = add nuw nsw i64 %23, %16
  %25 = icmp samesign ult i64 %24, %4
  br i1 %25, label %ok3, label %b5

b4:                                               ; preds = %ok5
  %26 = zext nneg i32 %36 to i64
  %27 = getelementptr inbounds nuw i32, ptr %15, i64 %26
  %28 = atomicrmw add ptr %27, i32 1 syncscope("singlethread") monotonic, align 4
  %29 = getelementptr inbounds nuw i32, ptr %least, i64 %26
  %30 = atomicrmw min ptr %29, i32 %39 syncscope("singlethread") monotonic, align 4
  br label %b5

b5:                                               ; preds = %b4, %ok5, %b2
  %31 = call i32 @pyptx.barrier(i32 0, i1 false)
  br i1 %17, label %ok13, label %b7

b7:                                               ; preds = %ok15, %b5
  ret void

ok:                                               ; preds = %entry
  %32 = getelementptr inbounds nuw i32, ptr %15, i64 %16
  store i32 0, ptr %32, align 4
  %33 = getelementptr inbounds nuw i32, ptr %least, i64 %16
  store i32 1000, ptr %33, align 4
  br label %b2

ok3:                                              ; preds = %b2
  %34 = getelementptr inbounds nuw i32, ptr %1, i64 %24
  %35 = load i32, ptr %34, align 4
  %36 = and i32 %35, 63
  %37 = icmp samesign ult i64 %24, %9
  br i1 %37, label %ok5, label %stop6, !prof !2

ok5:                                              ; preds = %ok3
  %38 = getelementptr inbounds nuw i32, ptr %6, i64 %24
  %39 = load i32, ptr %38, align 4
  %.not = icmp eq i32 %39, 3
  br i1 %.not, label %b5, label %b4

stop6:                                            ; preds = %ok3
  call void @rt_host_trap(ptr nonnull %launch, i32 3, i64 %block, i32 %t, i64 %24, i64 %9, i64 0, i64 0)
  unreachable

ok13:                                             ; preds = %b5
  %40 = icmp ult i32 %tx, %13
  br i1 %40, label %ok15, label %stop16, !prof !2

ok15:                                             ; preds = %ok13
  %41 = getelementptr inbounds nuw i32, ptr %15, i64 %16
  %42 = load i32, ptr %41, align 4
  %43 = getelementptr inbounds nuw i32, ptr %least, i64 %16
  %44 = load i32, ptr %43, align 4
  %45 = add i32 %42, %44
  %46 = getelementptr inbounds nuw i32, ptr %11, i64 %16
  store i32 %45, ptr %46, align 4
  br label %b7

stop16:                                           ; preds = %ok13
  %47 = zext nneg i32 %13 to i64
  call void @rt_host_trap(ptr nonnull %launch, i32 8, i64 %block, i32 %t, i64 %16, i64 %47, i64 0, i64 0)
  unreachable
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

declare i32 @pyptx.barrier(i32, i1) #2

attributes #0 = { nounwind }
attributes #1 = { cold noreturn nounwind }
attributes #2 = { convergent nounwind }

!0 = !{}
!1 = !{i32 1, i32 1025}
!2 = !{!"branch_weights", i32 1048576, i32 1}
