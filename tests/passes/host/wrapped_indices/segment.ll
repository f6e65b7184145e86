; opt=3 shared=128 before=fission,whole_vectors,segments
; A segment of blocks of whole vectors that has no lanes: it gathers and counts in shared memory.
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
  %10 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %11 = load i32, ptr %10, align 4, !invariant.load !0, !pyptx.field !0
  %12 = getelementptr inbounds nuw i8, ptr %launch, i64 40
  %13 = load ptr, ptr %12, align 8, !invariant.load !0, !pyptx.field !0
  %14 = zext nneg i32 %tx to i64
  %15 = icmp ult i32 %tx, 32
  br i1 %15, label %ok, label %stop, !prof !1

b1:                                               ; preds = %ok7, %ok
  %16 = phi i64 [ %39, %ok ], [ %18, %ok7 ]
  %17 = icmp samesign ult i64 %16, %4
  br i1 %17, label %b2, label %b3

b2:                                               ; preds = %b1
  %18 = add nuw nsw i64 %16, %36
  %19 = getelementptr inbounds nuw i32, ptr %1, i64 %16
  %20 = load i32, ptr %19, align 4
  %21 = sext i32 %20 to i64
  %22 = icmp slt i32 %20, 0
  %23 = select i1 %22, i64 %9, i64 0
  %24 = add nsw i64 %23, %21
  %25 = icmp ult i64 %24, %9
  br i1 %25, label %ok5, label %stop6, !prof !1

b3:                                               ; preds = %b1
  %26 = call i32 @pyptx.barrier(i32 0, i1 false)
  %27 = icmp ult i32 %tx, %11
  br i1 %27, label %ok11, label %stop12, !prof !1

ok:                                               ; preds = %entry
  %28 = getelementptr inbounds nuw float, ptr %13, i64 %14
  store float 0.000000e+00, ptr %28, align 4
  %29 = call i32 @pyptx.barrier(i32 0, i1 false)
  %30 = getelementptr inbounds nuw i8, ptr %launch, i64 20
  %31 = load i32, ptr %30, align 4, !range !2, !invariant.load !0
  %32 = zext nneg i32 %31 to i64
  %33 = getelementptr inbounds nuw i8, ptr %launch, i64 8
  %34 = load i32, ptr %33, align 4, !range !3, !invariant.load !0, !pyptx.field !0
  %35 = zext nneg i32 %34 to i64
  %36 = mul nuw nsw i64 %35, %32
  %37 = zext nneg i32 %bx to i64
  %38 = mul nuw nsw i64 %37, %32
  %39 = add nuw nsw i64 %38, %14
  br label %b1

stop:                                             ; preds = %entry
  call void @rt_host_trap(ptr nonnull %launch, i32 0, i64 %block, i32 %t, i64 %14, i64 32, i64 0, i64 0)
  unreachable

ok5:                                              ; preds = %b2
  %40 = getelementptr inbounds i8, ptr %6, i64 %24
  %41 = load i8, ptr %40, align 1
  %42 = zext i8 %41 to i64
  %43 = icmp ult i8 %41, 32
  br i1 %43, label %ok7, label %stop8, !prof !1

stop6:                                            ; preds = %b2
  %.lcssa = phi i64 [ %24, %b2 ]
  %44 = icmp slt i64 %.lcssa, 0
  %45 = select i1 %44, i64 %9, i64 0
  %46 = sub nuw nsw i64 %.lcssa, %45
  call void @rt_host_trap(ptr nonnull %launch, i32 3, i64 %block, i32 %t, i64 %46, i64 %9, i64 0, i64 0)
  unreachable

ok7:                                              ; preds = %ok5
  %47 = getelementptr inbounds nuw float, ptr %13, i64 %42
  %48 = atomicrmw fadd ptr %47, float 1.000000e+00 syncscope("singlethread") monotonic, align 4
  br label %b1

stop8:                                            ; preds = %ok5
  %.lcssa14 = phi i64 [ %42, %ok5 ]
  call void @rt_host_trap(ptr nonnull %launch, i32 4, i64 %block, i32 %t, i64 %.lcssa14, i64 32, i64 0, i64 0)
  unreachable

ok11:                                             ; preds = %b3
  %49 = load float, ptr %28, align 4
  %50 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %51 = load ptr, ptr %50, align 8, !invariant.load !0, !pyptx.field !0
  %52 = getelementptr inbounds nuw float, ptr %51, i64 %14
  store float %49, ptr %52, align 4
  ret void

stop12:                                           ; preds = %b3
  %53 = zext nneg i32 %11 to i64
  call void @rt_host_trap(ptr nonnull %launch, i32 6, i64 %block, i32 %t, i64 %14, i64 %53, i64 0, i64 0)
  unreachable
}

; Function Attrs: cold noreturn nounwind
declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

; Function Attrs: convergent nounwind
declare i32 @pyptx.barrier(i32, i1) #2

attributes #0 = { nounwind }
attributes #1 = { cold noreturn nounwind }
attributes #2 = { convergent nounwind }

!0 = !{}
!1 = !{!"branch_weights", i32 1048576, i32 1}
!2 = !{i32 1, i32 1025}
!3 = !{i32 1, i32 -2147483648}
