; opt=3  axes=2
; The second index is no constant, so the length of rows is not guessed.
define internal void @k.thread(ptr nonnull align 8 dereferenceable(96) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  %0 = load ptr, ptr %launch, align 8, !invariant.load !0
  %1 = load ptr, ptr %0, align 8, !invariant.load !0, !pyptx.field !0
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %3 = load i32, ptr %2, align 4, !invariant.load !0, !pyptx.field !0
  %4 = zext nneg i32 %3 to i64
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 12
  %6 = load i32, ptr %5, align 4, !invariant.load !0, !pyptx.field !0
  %7 = zext nneg i32 %6 to i64
  %8 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %9 = load ptr, ptr %8, align 8, !invariant.load !0, !pyptx.field !0
  %10 = zext nneg i32 %tx to i64
  %11 = icmp samesign ult i64 %10, %4
  br i1 %11, label %b1, label %b2

b1:                                               ; preds = %entry
  %12 = icmp eq i32 %6, 0
  br i1 %12, label %stop, label %ok

b2:                                               ; preds = %ok1, %entry
  ret void

ok:                                               ; preds = %b1
  %13 = mul nuw nsw i64 %10, %7
  %14 = getelementptr inbounds nuw float, ptr %1, i64 %13
  %15 = load float, ptr %14, align 4
  %16 = icmp samesign ult i64 %10, %7
  br i1 %16, label %ok1, label %stop1

stop:                                             ; preds = %b1
  call void @rt_host_trap(ptr %launch, i32 1, i64 %block, i32 %t, i64 0, i64 %7, i64 0, i64 0)
  unreachable

ok1:                                              ; preds = %ok
  %17 = getelementptr inbounds nuw i8, ptr %14, i64 4
  %18 = load float, ptr %17, align 4
  %19 = fadd float %15, %18
  %20 = getelementptr inbounds nuw float, ptr %9, i64 %10
  store float %19, ptr %20, align 4
  br label %b2

stop1:                                            ; preds = %ok
  call void @rt_host_trap(ptr %launch, i32 3, i64 %block, i32 %t, i64 1, i64 %7, i64 0, i64 0)
  unreachable
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

attributes #0 = { alwaysinline nounwind }
attributes #1 = { cold noreturn nounwind }

!0 = !{}
