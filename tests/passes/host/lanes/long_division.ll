; opt=3
define internal void @k.thread(ptr nonnull align 8 dereferenceable(96) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  %0 = load ptr, ptr %launch, align 8, !invariant.load !0
  %1 = load ptr, ptr %0, align 8, !invariant.load !0, !pyptx.field !0
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %3 = load ptr, ptr %2, align 8, !invariant.load !0, !pyptx.field !0
  %4 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %5 = load i32, ptr %4, align 4, !invariant.load !0, !pyptx.field !0
  %6 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %7 = load ptr, ptr %6, align 8, !invariant.load !0, !pyptx.field !0
  %8 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %9 = load i32, ptr %8, align 4, !invariant.load !0, !pyptx.field !0
  %10 = zext nneg i32 %9 to i64
  %11 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %12 = load ptr, ptr %11, align 8, !invariant.load !0, !pyptx.field !0
  %13 = getelementptr inbounds nuw i8, ptr %0, i64 56
  %14 = load i32, ptr %13, align 4, !invariant.load !0, !pyptx.field !0
  %15 = zext nneg i32 %14 to i64
  %16 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %17 = load i32, ptr %16, align 4, !invariant.load !0, !pyptx.field !0
  %18 = zext nneg i32 %17 to i64
  %19 = getelementptr inbounds nuw i8, ptr %launch, i64 20
  %20 = load i32, ptr %19, align 4, !range !1, !invariant.load !0, !pyptx.field !0
  %21 = zext nneg i32 %20 to i64
  %22 = zext nneg i32 %bx to i64
  %23 = mul nuw nsw i64 %22, %21
  %24 = zext nneg i32 %tx to i64
  %25 = add nuw nsw i64 %23, %24
  %26 = icmp samesign ult i64 %25, %18
  br i1 %26, label %ok, label %b2

b2:                                               ; preds = %ok9, %entry
  ret void

ok:                                               ; preds = %entry
  %27 = getelementptr inbounds nuw i64, ptr %1, i64 %25
  %.not = icmp eq i32 %5, 0
  br i1 %.not, label %stop2, label %ok1, !prof !2

ok1:                                              ; preds = %ok
  %28 = icmp samesign ult i64 %25, %10
  br i1 %28, label %ok3, label %stop4, !prof !3

stop2:                                            ; preds = %ok
  %29 = zext nneg i32 %5 to i64
  call void @rt_host_trap_in_line(ptr %launch, i32 1, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 0, i64 %29, i64 0, i64 0)
  unreachable

ok3:                                              ; preds = %ok1
  %30 = load i64, ptr %3, align 8
  %31 = icmp eq i64 %30, 0
  %32 = load i64, ptr %27, align 8
  %33 = icmp eq i64 %32, -9223372036854775808
  %34 = icmp eq i64 %30, -1
  %35 = and i1 %33, %34
  %36 = or i1 %31, %35
  %37 = select i1 %36, i64 1, i64 %30
  %38 = sdiv i64 %32, %37
  %39 = srem i64 %32, %37
  %40 = icmp ne i64 %39, 0
  %41 = xor i64 %39, %37
  %42 = icmp slt i64 %41, 0
  %43 = and i1 %40, %42
  %.neg = sext i1 %43 to i64
  %44 = add i64 %38, %.neg
  %45 = select i1 %31, i64 0, i64 %44
  %46 = getelementptr inbounds nuw i64, ptr %7, i64 %25
  store i64 %45, ptr %46, align 8
  %47 = icmp samesign ult i64 %25, %15
  br i1 %47, label %ok9, label %stop10, !prof !3

stop4:                                            ; preds = %ok1
  call void @rt_host_trap_in_line(ptr %launch, i32 2, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %25, i64 %10, i64 0, i64 0)
  unreachable

ok9:                                              ; preds = %ok3
  %48 = load i64, ptr %27, align 8
  %49 = load i64, ptr %3, align 8
  %50 = icmp eq i64 %49, 0
  %51 = icmp eq i64 %48, -9223372036854775808
  %52 = icmp eq i64 %49, -1
  %53 = and i1 %51, %52
  %54 = or i1 %50, %53
  %55 = select i1 %54, i64 1, i64 %49
  %56 = srem i64 %48, %55
  %57 = icmp ne i64 %56, 0
  %58 = xor i64 %56, %55
  %59 = icmp slt i64 %58, 0
  %60 = and i1 %57, %59
  %61 = select i1 %60, i64 %55, i64 0
  %62 = add i64 %56, %61
  %63 = getelementptr inbounds nuw i64, ptr %12, i64 %25
  store i64 %62, ptr %63, align 8
  br label %b2

stop10:                                           ; preds = %ok3
  call void @rt_host_trap_in_line(ptr %launch, i32 5, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %25, i64 %15, i64 0, i64 0)
  unreachable
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

declare void @rt_host_trap_in_line(ptr, i32, i32, i32, i32, i32, i32, i64, i64, i64, i64) #2

attributes #0 = { alwaysinline nounwind }
attributes #1 = { cold noreturn nounwind }
attributes #2 = { cold noreturn }

!0 = !{}
!1 = !{i32 1, i32 1025}
!2 = !{!"branch_weights", i32 1, i32 1048576}
!3 = !{!"branch_weights", i32 1048576, i32 1}
