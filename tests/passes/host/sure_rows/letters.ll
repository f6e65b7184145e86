; opt=3 before=lanes,entry
; Bytes as letters of a table: where all threads of a row are in range, and the table has 64, they have no checks.
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
  %14 = zext nneg i32 %13 to i64
  %15 = getelementptr inbounds nuw i8, ptr %launch, i64 20
  %16 = load i32, ptr %15, align 4, !range !1, !invariant.load !0, !pyptx.field !0
  %17 = zext nneg i32 %16 to i64
  %18 = zext nneg i32 %bx to i64
  %19 = mul nuw nsw i64 %18, %17
  %20 = zext nneg i32 %tx to i64
  %21 = add nuw nsw i64 %19, %20
  %22 = mul nuw nsw i64 %21, 3
  %23 = icmp samesign ult i64 %22, %4
  br i1 %23, label %ok, label %b12

b3:                                               ; preds = %ok1, %ok
  %24 = phi i32 [ %46, %ok ], [ %53, %ok1 ]
  %25 = add nuw nsw i64 %22, 2
  %26 = icmp samesign ult i64 %25, %4
  br i1 %26, label %ok3, label %b5

b5:                                               ; preds = %ok3, %b3
  %27 = phi i32 [ %24, %b3 ], [ %57, %ok3 ]
  %28 = sext i32 %27 to i64
  %29 = ashr i64 %28, 18
  %30 = icmp ult i64 %29, %9
  br i1 %30, label %ok5, label %stop6, !prof !2

b6:                                               ; preds = %ok11
  %31 = lshr i64 %28, 6
  %32 = and i64 %31, 63
  %33 = icmp samesign ult i64 %32, %9
  br i1 %33, label %ok13, label %stop14, !prof !2

b8:                                               ; preds = %ok11, %ok13
  %34 = phi i8 [ %72, %ok13 ], [ 61, %ok11 ]
  %35 = or disjoint i64 %58, 2
  %36 = icmp samesign ult i64 %35, %14
  br i1 %36, label %ok15, label %stop16, !prof !2

b9:                                               ; preds = %ok15
  %37 = and i32 %27, 63
  %38 = zext nneg i32 %37 to i64
  %39 = icmp ult i32 %37, %8
  br i1 %39, label %ok17, label %stop18, !prof !2

b11:                                              ; preds = %ok15, %ok17
  %40 = phi i8 [ %75, %ok17 ], [ 61, %ok15 ]
  %41 = or disjoint i64 %58, 3
  %42 = icmp samesign ult i64 %41, %14
  br i1 %42, label %ok19, label %stop20, !prof !2

b12:                                              ; preds = %ok19, %entry
  ret void

ok:                                               ; preds = %entry
  %43 = getelementptr inbounds nuw i8, ptr %1, i64 %22
  %44 = load i8, ptr %43, align 1
  %45 = zext i8 %44 to i32
  %46 = shl nuw nsw i32 %45, 16
  %47 = add nuw nsw i64 %22, 1
  %48 = icmp samesign ult i64 %47, %4
  br i1 %48, label %ok1, label %b3

ok1:                                              ; preds = %ok
  %49 = getelementptr inbounds nuw i8, ptr %1, i64 %47
  %50 = load i8, ptr %49, align 1
  %51 = zext i8 %50 to i32
  %52 = shl nuw nsw i32 %51, 8
  %53 = or disjoint i32 %46, %52
  br label %b3

ok3:                                              ; preds = %b3
  %54 = getelementptr inbounds nuw i8, ptr %1, i64 %25
  %55 = load i8, ptr %54, align 1
  %56 = zext i8 %55 to i32
  %57 = or i32 %24, %56
  br label %b5

ok5:                                              ; preds = %b5
  %58 = shl nuw nsw i64 %21, 2
  %59 = icmp samesign ult i64 %58, %14
  br i1 %59, label %ok7, label %stop8, !prof !2

stop6:                                            ; preds = %b5
  call void @rt_host_trap_in_line(ptr %launch, i32 3, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %29, i64 %9, i64 0, i64 0)
  unreachable

ok7:                                              ; preds = %ok5
  %60 = getelementptr inbounds i8, ptr %6, i64 %29
  %61 = load i8, ptr %60, align 1
  %62 = getelementptr inbounds nuw i8, ptr %11, i64 %58
  store i8 %61, ptr %62, align 1
  %63 = lshr i64 %28, 12
  %64 = and i64 %63, 63
  %65 = icmp samesign ult i64 %64, %9
  br i1 %65, label %ok9, label %stop10, !prof !2

stop8:                                            ; preds = %ok5
  call void @rt_host_trap_in_line(ptr %launch, i32 4, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %58, i64 %14, i64 0, i64 0)
  unreachable

ok9:                                              ; preds = %ok7
  %66 = or disjoint i64 %58, 1
  %67 = icmp samesign ult i64 %66, %14
  br i1 %67, label %ok11, label %stop12, !prof !2

stop10:                                           ; preds = %ok7
  call void @rt_host_trap_in_line(ptr %launch, i32 5, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %64, i64 %9, i64 0, i64 0)
  unreachable

ok11:                                             ; preds = %ok9
  %68 = getelementptr inbounds nuw i8, ptr %6, i64 %64
  %69 = load i8, ptr %68, align 1
  %70 = getelementptr inbounds nuw i8, ptr %11, i64 %66
  store i8 %69, ptr %70, align 1
  br i1 %48, label %b6, label %b8

stop12:                                           ; preds = %ok9
  call void @rt_host_trap_in_line(ptr %launch, i32 6, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %66, i64 %14, i64 0, i64 0)
  unreachable

ok13:                                             ; preds = %b6
  %71 = getelementptr inbounds nuw i8, ptr %6, i64 %32
  %72 = load i8, ptr %71, align 1
  br label %b8

stop14:                                           ; preds = %b6
  call void @rt_host_trap_in_line(ptr %launch, i32 7, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %32, i64 %9, i64 0, i64 0)
  unreachable

ok15:                                             ; preds = %b8
  %73 = getelementptr inbounds nuw i8, ptr %11, i64 %35
  store i8 %34, ptr %73, align 1
  br i1 %26, label %b9, label %b11

stop16:                                           ; preds = %b8
  call void @rt_host_trap_in_line(ptr %launch, i32 8, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %35, i64 %14, i64 0, i64 0)
  unreachable

ok17:                                             ; preds = %b9
  %74 = getelementptr inbounds nuw i8, ptr %6, i64 %38
  %75 = load i8, ptr %74, align 1
  br label %b11

stop18:                                           ; preds = %b9
  call void @rt_host_trap_in_line(ptr %launch, i32 9, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %38, i64 %9, i64 0, i64 0)
  unreachable

ok19:                                             ; preds = %b11
  %76 = getelementptr inbounds nuw i8, ptr %11, i64 %41
  store i8 %40, ptr %76, align 1
  br label %b12

stop20:                                           ; preds = %b11
  call void @rt_host_trap_in_line(ptr %launch, i32 10, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %41, i64 %14, i64 0, i64 0)
  unreachable
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

declare i64 @llvm.umin.i64(i64, i64) #2

declare void @rt_host_trap_in_line(ptr, i32, i32, i32, i32, i32, i32, i64, i64, i64, i64) #3

attributes #0 = { alwaysinline nounwind }
attributes #1 = { cold noreturn nounwind }
attributes #2 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #3 = { cold noreturn }

!0 = !{}
!1 = !{i32 1, i32 1025}
!2 = !{!"branch_weights", i32 1048576, i32 1}
