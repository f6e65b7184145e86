; opt=3 avx512
; int(x): by the CPU's conversion to 64 bits, and selections.
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
  %10 = getelementptr inbounds nuw i8, ptr %launch, i64 20
  %11 = load i32, ptr %10, align 4, !range !1, !invariant.load !0, !pyptx.field !0
  %12 = zext nneg i32 %11 to i64
  %13 = zext nneg i32 %bx to i64
  %14 = mul nuw nsw i64 %13, %12
  %15 = zext nneg i32 %tx to i64
  %16 = add nuw nsw i64 %14, %15
  %17 = icmp samesign ult i64 %16, %9
  br i1 %17, label %ok, label %b2

b2:                                               ; preds = %ok3, %entry
  ret void

ok:                                               ; preds = %entry
  %18 = getelementptr inbounds nuw i64, ptr %6, i64 %16
  %19 = icmp samesign ult i64 %16, %4
  br i1 %19, label %ok3, label %stop2, !prof !2

stop2:                                            ; preds = %ok
  call void @rt_host_trap_in_line(ptr %launch, i32 1, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %t, i64 %16, i64 %4, i64 0, i64 0)
  unreachable

ok3:                                              ; preds = %ok
  %20 = load i64, ptr %18, align 8
  %21 = getelementptr inbounds nuw float, ptr %1, i64 %16
  %22 = load float, ptr %21, align 4
  %23 = call i64 @llvm.fptosi.sat.i64.f32(float %22)
  %24 = add i64 %20, %23
  store i64 %24, ptr %18, align 8
  br label %b2
}

; Function Attrs: cold noreturn nounwind
declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.fptosi.sat.i64.f32(float) #2

; Function Attrs: cold noreturn
declare void @rt_host_trap_in_line(ptr, i32, i32, i32, i32, i32, i32, i64, i64, i64, i64) #3

attributes #0 = { alwaysinline nounwind }
attributes #1 = { cold noreturn nounwind }
attributes #2 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #3 = { cold noreturn }

!0 = !{}
!1 = !{i32 1, i32 1025}
!2 = !{!"branch_weights", i32 1048576, i32 1}
