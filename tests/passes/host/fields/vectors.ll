; opt=2 before=lanes,entry
define internal void @k.thread(ptr nonnull align 8 dereferenceable(72) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  %0 = load ptr, ptr %launch, align 8, !invariant.load !0
  %1 = load ptr, ptr %0, align 8, !invariant.load !0, !pyptx.field !0
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %3 = load i32, ptr %2, align 4, !invariant.load !0, !pyptx.field !0
  %4 = zext nneg i32 %3 to i64
  %5 = getelementptr inbounds nuw i8, ptr %launch, i64 20
  %6 = load i32, ptr %5, align 4, !range !1, !invariant.load !0, !pyptx.field !0
  %7 = zext nneg i32 %6 to i64
  %8 = zext nneg i32 %bx to i64
  %9 = mul nuw nsw i64 %8, %7
  %10 = zext nneg i32 %tx to i64
  %11 = add nuw nsw i64 %9, %10
  %12 = icmp samesign ult i64 %11, %4
  br i1 %12, label %ok, label %stop, !prof !2

b1:                                               ; preds = %b2, %ok
  %13 = phi float [ %17, %ok ], [ %15, %b2 ]
  %14 = fcmp ogt float %13, 1.000000e+00
  br i1 %14, label %b2, label %ok1

b2:                                               ; preds = %b1
  %15 = fmul contract float %13, 5.000000e-01
  br label %b1

ok:                                               ; preds = %entry
  %16 = getelementptr inbounds nuw float, ptr %1, i64 %11
  %17 = load float, ptr %16, align 4
  br label %b1

stop:                                             ; preds = %entry
  call void @rt_host_trap_in_line(ptr %launch, i32 0, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %11, i64 %4, i64 0, i64 0)
  unreachable

ok1:                                              ; preds = %b1
  %.lcssa = phi float [ %13, %b1 ]
  store float %.lcssa, ptr %16, align 4
  ret void
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

declare void @rt_host_trap_in_line(ptr, i32, i32, i32, i32, i32, i32, i64, i64, i64, i64) #2

attributes #0 = { alwaysinline nounwind }
attributes #1 = { cold noreturn nounwind }
attributes #2 = { cold noreturn }

!0 = !{}
!1 = !{i32 1, i32 1025}
!2 = !{!"branch_weights", i32 1048576, i32 1}
