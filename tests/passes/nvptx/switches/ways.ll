; opt=3
; Two ways become a branch, whose blocks have one edge each; three ways of which two do something stay, and so do many numbers that are far apart, and a side that ends a loop with hints of its own.
define ptx_kernel void @k(ptr addrspace(1) align 1 %text, i32 %n, ptr addrspace(1) align 4 %out) #0 {
entry:
  br label %loop

loop:                                             ; preds = %loop, %entry
  %k = phi i64 [ 0, %entry ], [ %next, %loop ]
  %p = getelementptr i8, ptr addrspace(1) %text, i64 %k
  %c = load i8, ptr addrspace(1) %p, align 1
  %next = add nuw nsw i64 %k, 1
  switch i8 %c, label %loop [
    i8 10, label %done
    i8 13, label %done
    i8 32, label %done
    i8 0, label %done
  ]

done:                                             ; preds = %loop, %loop, %loop, %loop
  %at = phi i64 [ %next, %loop ], [ %next, %loop ], [ %next, %loop ], [ %next, %loop ]
  %low = trunc i64 %at to i32
  switch i32 %n, label %three [
    i32 1, label %one
    i32 2, label %two
  ]

one:                                              ; preds = %done
  store i32 %low, ptr addrspace(1) %out, align 4
  br label %three

two:                                              ; preds = %done
  store i32 %n, ptr addrspace(1) %out, align 4
  br label %three

three:                                            ; preds = %two, %one, %done
  switch i32 %n, label %none [
    i32 100, label %some
    i32 200, label %some
    i32 300, label %some
    i32 400, label %some
    i32 500, label %some
    i32 600, label %some
    i32 700, label %some
    i32 800, label %some
    i32 900, label %some
    i32 1000, label %some
    i32 1100, label %some
    i32 1200, label %some
    i32 1300, label %some
    i32 1400, label %some
    i32 1500, label %some
  ]

none:                                             ; preds = %three
  br label %some

some:                                             ; preds = %none, %three, %three, %three, %three, %three, %three, %three, %three, %three, %three, %three, %three, %three, %three, %three
  %v = phi i32 [ 0, %none ], [ 1, %three ], [ 1, %three ], [ 1, %three ], [ 1, %three ], [ 1, %three ], [ 1, %three ], [ 1, %three ], [ 1, %three ], [ 1, %three ], [ 1, %three ], [ 1, %three ], [ 1, %three ], [ 1, %three ], [ 1, %three ], [ 1, %three ]
  br label %again

again:                                            ; preds = %turn, %some
  %m = phi i32 [ %v, %some ], [ 7, %turn ]
  %old = atomicrmw add ptr addrspace(1) %out, i32 %m monotonic, align 4
  switch i32 %old, label %turn [
    i32 7, label %end
    i32 8, label %end
  ]

turn:                                             ; preds = %again
  br label %again, !llvm.loop !0

end:                                              ; preds = %again, %again
  ret void
}

attributes #0 = { nounwind }

!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.disable"}
