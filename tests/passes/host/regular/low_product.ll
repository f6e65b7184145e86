; opt=3
define internal void @k.thread(ptr nonnull align 8 dereferenceable(96) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  %0 = getelementptr inbounds i8, ptr %launch, i64 0
  %1 = load ptr, ptr %0, align 8, !invariant.load !0, !pyptx.field !0
  %2 = getelementptr inbounds i8, ptr %1, i64 0
  %3 = load ptr, ptr %2, align 8, !invariant.load !0, !pyptx.field !0
  %4 = getelementptr inbounds i8, ptr %launch, i64 0
  %5 = load ptr, ptr %4, align 8, !invariant.load !0, !pyptx.field !0
  %6 = getelementptr inbounds i8, ptr %5, i64 8
  %7 = load i32, ptr %6, align 4, !invariant.load !0, !pyptx.field !0
  %8 = zext nneg i32 %7 to i64
  %9 = getelementptr inbounds i8, ptr %launch, i64 0
  %10 = load ptr, ptr %9, align 8, !invariant.load !0, !pyptx.field !0
  %11 = getelementptr inbounds i8, ptr %10, i64 16
  %12 = load ptr, ptr %11, align 8, !invariant.load !0, !pyptx.field !0
  %13 = getelementptr inbounds i8, ptr %launch, i64 0
  %14 = load ptr, ptr %13, align 8, !invariant.load !0, !pyptx.field !0
  %15 = getelementptr inbounds i8, ptr %14, i64 24
  %16 = load i32, ptr %15, align 4, !invariant.load !0, !pyptx.field !0
  %17 = zext nneg i32 %16 to i64
  %18 = getelementptr inbounds i8, ptr %launch, i64 0
  %19 = load ptr, ptr %18, align 8, !invariant.load !0, !pyptx.field !0
  %20 = getelementptr inbounds i8, ptr %19, i64 32
  %21 = load ptr, ptr %20, align 8, !invariant.load !0, !pyptx.field !0
  %22 = getelementptr inbounds i8, ptr %launch, i64 0
  %23 = load ptr, ptr %22, align 8, !invariant.load !0, !pyptx.field !0
  %24 = getelementptr inbounds i8, ptr %23, i64 40
  %25 = load i32, ptr %24, align 4, !invariant.load !0, !pyptx.field !0
  %26 = zext nneg i32 %25 to i64
  br label %b0

b0:                                               ; preds = %entry
  %27 = getelementptr inbounds i8, ptr %launch, i64 20
  %28 = load i32, ptr %27, align 4, !range !1, !invariant.load !0, !pyptx.field !0
  %29 = zext nneg i32 %28 to i64
  %30 = zext nneg i32 %bx to i64
  %31 = mul nsw i64 %30, %29
  %32 = zext nneg i32 %tx to i64
  %33 = add nsw i64 %31, %32
  %34 = icmp slt i64 %33, %8
  br i1 %34, label %b1, label %b2

b1:                                               ; preds = %b0
  %35 = icmp ult i64 %33, %8
  br i1 %35, label %ok, label %stop, !prof !2

b2:                                               ; preds = %ok3, %b0
  ret void

ok:                                               ; preds = %b1
  %36 = getelementptr inbounds i32, ptr %3, i64 %33
  %37 = load i32, ptr %36, align 4
  %38 = zext i32 %37 to i64
  %39 = mul i64 %38, 3528531795
  %40 = lshr i64 %39, 32
  %41 = select i1 true, i64 %40, i64 0
  %42 = trunc i64 %41 to i32
  %43 = icmp ult i64 %33, %17
  br i1 %43, label %ok1, label %stop2, !prof !2

stop:                                             ; preds = %b1
  %44 = icmp slt i64 %33, 0
  %45 = sub i64 %33, %8
  %46 = select i1 %44, i64 %45, i64 %33
  call void @rt_host_trap(ptr %launch, i32 0, i64 %block, i32 %t, i64 %46, i64 %8, i64 0, i64 0)
  unreachable

ok1:                                              ; preds = %ok
  %47 = getelementptr inbounds i32, ptr %12, i64 %33
  store i32 %42, ptr %47, align 4
  %48 = trunc i64 %39 to i32
  %49 = icmp ult i64 %33, %26
  br i1 %49, label %ok3, label %stop4, !prof !2

stop2:                                            ; preds = %ok
  %50 = icmp slt i64 %33, 0
  %51 = sub i64 %33, %17
  %52 = select i1 %50, i64 %51, i64 %33
  call void @rt_host_trap(ptr %launch, i32 1, i64 %block, i32 %t, i64 %52, i64 %17, i64 0, i64 0)
  unreachable

ok3:                                              ; preds = %ok1
  %53 = getelementptr inbounds i32, ptr %21, i64 %33
  store i32 %48, ptr %53, align 4
  br label %b2

stop4:                                            ; preds = %ok1
  %54 = icmp slt i64 %33, 0
  %55 = sub i64 %33, %26
  %56 = select i1 %54, i64 %55, i64 %33
  call void @rt_host_trap(ptr %launch, i32 2, i64 %block, i32 %t, i64 %56, i64 %26, i64 0, i64 0)
  unreachable
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

attributes #0 = { nounwind }
attributes #1 = { cold noreturn nounwind }

!0 = !{}
!1 = !{i32 1, i32 1025}
!2 = !{!"branch_weights", i32 1048576, i32 1}
