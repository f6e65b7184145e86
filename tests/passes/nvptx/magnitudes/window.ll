; opt=3
; All four orders, either operand; what the inner loop does not change goes in front of both.
define ptx_kernel void @k(ptr addrspace(1) align 4 %out, i32 %guard, i64 %far, i32 %rows, i32 %cols) #0 {
entry:
  br label %row

row:
  %r = phi i32 [ 0, %entry ], [ %r.next, %row.end ]
  br label %col

col:
  %c = phi i32 [ 0, %row ], [ %c.next, %col ]
  %d = sub nsw i32 %c, %cols
  %size = call i32 @llvm.abs.i32(i32 %d, i1 true)
  %more = icmp sgt i32 %size, %guard
  %less = icmp slt i32 %size, %r
  %wide = sext i32 %d to i64
  %long = call i64 @llvm.abs.i64(i64 %wide, i1 false)
  %most = icmp sle i64 %long, %far
  %least = icmp sle i64 %far, %long
  %first = or i1 %more, %less
  %second = xor i1 %most, %least
  %all = and i1 %first, %second
  %v = zext i1 %all to i32
  store i32 %v, ptr addrspace(1) %out, align 4
  %c.next = add nuw nsw i32 %c, 1
  %c.more = icmp slt i32 %c.next, %cols
  br i1 %c.more, label %col, label %row.end

row.end:
  %r.next = add nuw nsw i32 %r, 1
  %r.more = icmp slt i32 %r.next, %rows
  br i1 %r.more, label %row, label %end

end:
  ret void
}

declare i32 @llvm.abs.i32(i32, i1 immarg)
declare i64 @llvm.abs.i64(i64, i1 immarg)
attributes #0 = { nounwind }
