; shared=1024 before=fission avx512
define internal void @k.thread(ptr nonnull align 8 dereferenceable(96) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  %0 = load ptr, ptr %launch, align 8, !invariant.load !0
  %1 = load ptr, ptr %0, align 8, !invariant.load !0, !pyptx.field !0
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %3 = load i32, ptr %2, align 4, !invariant.load !0, !pyptx.field !0
  %4 = zext nneg i32 %3 to i64
  %5 = getelementptr inbounds nuw i8, ptr %launch, i64 40
  %6 = load ptr, ptr %5, align 8, !invariant.load !0, !pyptx.field !0
  %7 = zext nneg i32 %tx to i64
  %8 = getelementptr inbounds nuw i8, ptr %launch, i64 20
  %9 = load i32, ptr %8, align 4, !range !1, !invariant.load !0
  %10 = zext nneg i32 %9 to i64
  br label %b1

b1:                                               ; preds = %ok1, %entry
  %11 = phi i64 [ %7, %entry ], [ %29, %ok1 ]
  %12 = icmp samesign ult i64 %11, 256
  br i1 %12, label %ok1, label %b3

b3:                                               ; preds = %b1
  %13 = call i32 @pyptx.barrier(i32 0, i1 false)
  %14 = getelementptr inbounds nuw i8, ptr %launch, i64 8
  %15 = load i32, ptr %14, align 4, !range !2, !invariant.load !0, !pyptx.field !0
  %16 = zext nneg i32 %15 to i64
  %17 = mul nuw nsw i64 %16, %10
  %18 = zext nneg i32 %bx to i64
  %19 = mul nuw nsw i64 %18, %10
  %20 = add nuw nsw i64 %19, %7
  br label %b4

b4:                                               ; preds = %b5, %b3
  %21 = phi i64 [ %20, %b3 ], [ %23, %b5 ]
  %22 = icmp samesign ult i64 %21, %4
  br i1 %22, label %b5, label %b6

b5:                                               ; preds = %b4
  %23 = add nuw nsw i64 %21, %17
  %24 = getelementptr inbounds nuw i8, ptr %1, i64 %21
  %25 = load i8, ptr %24, align 1
  %26 = zext i8 %25 to i64
  %27 = getelementptr inbounds nuw i32, ptr %6, i64 %26
  %28 = atomicrmw add ptr %27, i32 1 syncscope("singlethread") monotonic, align 4
  br label %b4

b6:                                               ; preds = %b4
  ret void

ok1:                                              ; preds = %b1
  %29 = add nuw nsw i64 %11, %10
  %30 = getelementptr inbounds nuw i32, ptr %6, i64 %11
  store i32 0, ptr %30, align 4
  br label %b1
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

declare i32 @pyptx.barrier(i32, i1) #2

attributes #0 = { nounwind }
attributes #1 = { cold noreturn nounwind }
attributes #2 = { convergent nounwind }

!0 = !{}
!1 = !{i32 1, i32 1025}
!2 = !{i32 1, i32 -2147483648}
