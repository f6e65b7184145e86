; opt=3
define internal void @k.thread(ptr nonnull align 8 dereferenceable(72) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  %0 = load ptr, ptr %launch, align 8, !invariant.load !0
  %1 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %2 = load i32, ptr %1, align 4, !invariant.load !0, !pyptx.field !0
  %3 = zext nneg i32 %2 to i64
  %4 = getelementptr inbounds nuw i8, ptr %0, i64 12
  %5 = load i32, ptr %4, align 4, !invariant.load !0, !pyptx.field !0
  %6 = zext nneg i32 %5 to i64
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %8 = load ptr, ptr %7, align 8, !invariant.load !0, !pyptx.field !0
  %9 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %10 = load i32, ptr %9, align 4, !invariant.load !0, !pyptx.field !0
  %11 = zext nneg i32 %10 to i64
  br label %NodeBlock

NodeBlock:                                        ; preds = %entry
  %Pivot = icmp slt i32 %10, 1
  br i1 %Pivot, label %LeafBlock, label %LeafBlock8

LeafBlock8:                                       ; preds = %NodeBlock
  %SwitchLeaf9 = icmp eq i32 %10, 1
  br i1 %SwitchLeaf9, label %stop2, label %ok1

LeafBlock:                                        ; preds = %NodeBlock
  %SwitchLeaf = icmp eq i32 %10, 0
  br i1 %SwitchLeaf, label %stop, label %ok1

stop:                                             ; preds = %LeafBlock
  call void @rt_host_trap_in_line(ptr %launch, i32 0, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 0, i64 %11, i64 0, i64 0)
  unreachable

ok1:                                              ; preds = %LeafBlock8, %LeafBlock
  %12 = load i64, ptr %8, align 8
  %13 = icmp slt i64 %12, 0
  %14 = select i1 %13, i64 %3, i64 0
  %15 = add i64 %12, %14
  %16 = icmp ult i64 %15, %3
  br i1 %16, label %ok3, label %stop4, !prof !1

stop2:                                            ; preds = %LeafBlock8
  call void @rt_host_trap_in_line(ptr %launch, i32 1, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 1, i64 %11, i64 0, i64 0)
  unreachable

ok3:                                              ; preds = %ok1
  %17 = getelementptr inbounds nuw i8, ptr %8, i64 8
  %18 = load i64, ptr %17, align 8
  %19 = icmp slt i64 %18, 0
  %20 = select i1 %19, i64 %6, i64 0
  %21 = add i64 %18, %20
  %22 = icmp ult i64 %21, %6
  br i1 %22, label %ok5, label %stop6, !prof !1

stop4:                                            ; preds = %ok1
  %23 = icmp slt i64 %15, 0
  %24 = select i1 %23, i64 %3, i64 0
  %25 = sub nuw i64 %15, %24
  call void @rt_host_trap_in_line(ptr %launch, i32 2, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %25, i64 %3, i64 0, i64 0)
  unreachable

ok5:                                              ; preds = %ok3
  %26 = load ptr, ptr %0, align 8, !invariant.load !0, !pyptx.field !0
  %27 = mul nsw i64 %15, %6
  %28 = getelementptr i32, ptr %26, i64 %27
  %29 = getelementptr i32, ptr %28, i64 %21
  store i32 1, ptr %29, align 4
  ret void

stop6:                                            ; preds = %ok3
  %30 = icmp slt i64 %21, 0
  %31 = select i1 %30, i64 %6, i64 0
  %32 = sub nuw i64 %21, %31
  call void @rt_host_trap_in_line(ptr %launch, i32 3, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %32, i64 %6, i64 0, i64 0)
  unreachable
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

declare void @rt_host_trap_in_line(ptr, i32, i32, i32, i32, i32, i32, i64, i64, i64, i64) #2

attributes #0 = { alwaysinline nounwind }
attributes #1 = { cold noreturn nounwind }
attributes #2 = { cold noreturn }

!0 = !{}
!1 = !{!"branch_weights", i32 1048576, i32 1}
