; opt=3
; A search to one side doubles its reach as long as a place is in range (0 where not, which is not more than the least), and halves its steps: `reach`, `length` and `step` fit 32 bits.
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, ptr addrspace(1) align 8 %out) #0 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i = zext nneg i32 %t to i64
  %at = getelementptr i32, ptr addrspace(1) %x, i64 %i
  %own = load i32, ptr addrspace(1) %at, align 4
  %up = icmp sgt i32 %own, 7
  %d = select i1 %up, i64 1, i64 -1
  br label %far

far:                                              ; preds = %entry, %far.end
  %reach = phi i64 [ 2, %entry ], [ %twice, %far.end ]
  %off = mul i64 %reach, %d
  %place = add i64 %off, %i
  %in = icmp ult i64 %place, 100000
  br i1 %in, label %far.load, label %far.end

far.load:                                         ; preds = %far
  %p = getelementptr i32, ptr addrspace(1) %x, i64 %place
  %v = load i32, ptr addrspace(1) %p, align 4
  br label %far.end

far.end:                                          ; preds = %far, %far.load
  %found = phi i32 [ %v, %far.load ], [ 0, %far ]
  %goes = icmp sgt i32 %found, 3
  %twice = shl i64 %reach, 1
  br i1 %goes, label %far, label %near.front

near.front:                                       ; preds = %far.end
  %half = ashr i64 %reach, 1
  br label %near

near:                                             ; preds = %near.front, %near.end
  %step = phi i64 [ %half, %near.front ], [ %less, %near.end ]
  %length = phi i64 [ 0, %near.front ], [ %longer, %near.end ]
  %sum = add i64 %step, %length
  %off2 = mul i64 %sum, %d
  %place2 = add i64 %off2, %i
  %in2 = icmp uge i64 %place2, 100000
  br i1 %in2, label %near.end, label %near.load

near.load:                                        ; preds = %near
  %p2 = getelementptr i32, ptr addrspace(1) %x, i64 %place2
  %v2 = load i32, ptr addrspace(1) %p2, align 4
  br label %near.end

near.end:                                         ; preds = %near, %near.load
  %found2 = phi i32 [ %v2, %near.load ], [ 0, %near ]
  %moves = icmp sgt i32 %found2, 3
  %longer = select i1 %moves, i64 %sum, i64 %length
  %less = lshr i64 %step, 1
  %done = icmp eq i64 %less, 0
  br i1 %done, label %end, label %near

end:                                              ; preds = %near.end
  %o = getelementptr i64, ptr addrspace(1) %out, i64 %i
  store i64 %longer, ptr addrspace(1) %o, align 8
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
