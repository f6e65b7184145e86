; shared=256
define internal void @k.thread(ptr nonnull align 8 dereferenceable(72) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
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
  br label %b0

b0:                                               ; preds = %entry
  %9 = getelementptr inbounds i8, ptr %launch, i64 40
  %10 = load ptr, ptr %9, align 8, !invariant.load !0, !pyptx.field !0
  %t1 = getelementptr inbounds i8, ptr %10, i64 0
  %11 = zext nneg i32 %tx to i64
  %12 = udiv i64 %11, 2
  %13 = select i1 false, i64 0, i64 %12
  %14 = icmp ult i64 %13, 64
  br i1 %14, label %ok, label %stop, !prof !1

ok:                                               ; preds = %b0
  %15 = getelementptr inbounds float, ptr %t1, i64 %13
  %16 = load volatile i32, ptr %15, align 4
  %17 = bitcast i32 %16 to float
  %18 = fcmp uno float %17, 1.500000e+00
  br i1 %18, label %atomic.end, label %atomic.try, !prof !2

stop:                                             ; preds = %b0
  call void @rt_host_trap(ptr %launch, i32 0, i64 %block, i32 %t, i64 %13, i64 64, i64 0, i64 0)
  unreachable

atomic.try:                                       ; preds = %ok
  br i1 false, label %atomic.minus, label %atomic.plus

atomic.end:                                       ; preds = %atomic.done, %ok
  %19 = phi i32 [ %16, %ok ], [ %24, %atomic.done ]
  %20 = bitcast i32 %19 to float
  %21 = icmp ult i64 0, %8
  br i1 %21, label %ok2, label %stop3, !prof !1

atomic.plus:                                      ; preds = %atomic.try
  %22 = atomicrmw max ptr %15, i32 1069547520 syncscope("singlethread") monotonic, align 4
  br label %atomic.done

atomic.minus:                                     ; preds = %atomic.try
  %23 = atomicrmw umin ptr %15, i32 1069547520 syncscope("singlethread") monotonic, align 4
  br label %atomic.done

atomic.done:                                      ; preds = %atomic.minus, %atomic.plus
  %24 = phi i32 [ %22, %atomic.plus ], [ %23, %atomic.minus ]
  br label %atomic.end

ok2:                                              ; preds = %atomic.end
  %25 = getelementptr inbounds float, ptr %3, i64 0
  %26 = atomicrmw fadd ptr %25, float 1.500000e+00 monotonic, align 4
  ret void

stop3:                                            ; preds = %atomic.end
  call void @rt_host_trap(ptr %launch, i32 1, i64 %block, i32 %t, i64 0, i64 %8, i64 0, i64 0)
  unreachable
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

attributes #0 = { nounwind }
attributes #1 = { cold noreturn nounwind }

!0 = !{}
!1 = !{!"branch_weights", i32 1048576, i32 1}
!2 = !{!"branch_weights", i32 1, i32 1000}
