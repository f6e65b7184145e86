; opt=3 before=fission
; A nest of loops whose inner steps depend on the outer one's size is unrolled: each shuffle is a
; permutation by constants.
define internal void @k.thread(ptr nonnull align 8 dereferenceable(72) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  %0 = load ptr, ptr %launch, align 8, !invariant.load !0
  %1 = load ptr, ptr %0, align 8, !invariant.load !0, !pyptx.field !0
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %3 = load i32, ptr %2, align 4, !invariant.load !0, !pyptx.field !0
  %4 = icmp ult i32 %tx, %3
  br i1 %4, label %ok, label %stop, !prof !1

ok:                                               ; preds = %entry
  %5 = zext nneg i32 %tx to i64
  %6 = getelementptr inbounds nuw i32, ptr %1, i64 %5
  %7 = load i32, ptr %6, align 4
  br label %sizes

sizes:                                            ; preds = %next, %ok
  %size = phi i32 [ 2, %ok ], [ %larger, %next ]
  %key = phi i32 [ %7, %ok ], [ %kept.lcssa, %next ]
  %on = icmp samesign ult i32 %size, 9
  br i1 %on, label %steps, label %end

steps:                                            ; preds = %exchange, %sizes
  %kept = phi i32 [ %chosen, %exchange ], [ %key, %sizes ]
  %before = phi i32 [ %step, %exchange ], [ %size, %sizes ]
  %step = lshr i32 %before, 1
  %last = icmp eq i32 %step, 0
  br i1 %last, label %next, label %exchange

exchange:                                         ; preds = %steps
  %given = zext i32 %kept to i64
  %got = call i64 @pyptx.meet(i32 7, i32 2, i32 -1, i64 %given, i32 %step)
  %other = trunc i64 %got to i32
  %less = icmp slt i32 %other, %kept
  %up = and i32 %tx, %size
  %low = and i32 %tx, %step
  %rises = icmp eq i32 %up, 0
  %first = icmp eq i32 %low, 0
  %least = xor i1 %rises, %first
  %stays = xor i1 %less, %least
  %chosen = select i1 %stays, i32 %other, i32 %kept
  br label %steps

next:                                             ; preds = %steps
  %kept.lcssa = phi i32 [ %kept, %steps ]
  %larger = shl nuw nsw i32 %size, 1
  br label %sizes

end:                                              ; preds = %sizes
  %key.lcssa = phi i32 [ %key, %sizes ]
  store i32 %key.lcssa, ptr %6, align 4
  ret void

stop:                                             ; preds = %entry
  call void @rt_host_trap(ptr nonnull %launch, i32 0, i64 %block, i32 %t, i64 0, i64 0, i64 0, i64 0)
  unreachable
}

declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) #1

declare i64 @pyptx.meet(i32, i32, i32, i64, i32) #2

attributes #0 = { nounwind }
attributes #1 = { cold noreturn nounwind }
attributes #2 = { convergent nomerge nounwind }

!0 = !{}
!1 = !{!"branch_weights", i32 1048576, i32 1}
