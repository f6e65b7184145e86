; opt=3
define internal void @k.thread(ptr nonnull align 8 dereferenceable(72) %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, i32 %ty, i32 %tz, i32 %t) #0 {
entry:
  %0 = load ptr, ptr %launch, align 8, !invariant.load !0
  %1 = load ptr, ptr %0, align 8, !invariant.load !0, !pyptx.field !0
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %3 = load ptr, ptr %2, align 8, !invariant.load !0, !pyptx.field !0
  %4 = zext nneg i32 %tx to i64
  %5 = getelementptr inbounds i32, ptr %1, i64 %4
  %6 = load i32, ptr %5, align 4
  %7 = atomicrmw min ptr %3, i32 %6 monotonic, align 4
  %8 = getelementptr inbounds i8, ptr %3, i64 8
  %9 = zext i32 %7 to i64
  %10 = atomicrmw umax ptr %8, i64 %9 monotonic, align 8
  %11 = atomicrmw add ptr %8, i64 %10 monotonic, align 8
  ret void
}

attributes #0 = { nounwind }

!0 = !{}
