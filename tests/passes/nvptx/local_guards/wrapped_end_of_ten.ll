; opt=3 before=llvm_loops
define ptx_kernel void @k(ptr addrspace(1) align 8 %x, i32 range(i32 0, -2147483648) %n, i64 %few, ptr addrspace(1) align 8 %out) {
entry:
  %best = alloca [80 x i8], align 8
  %k = trunc i64 %few to i32
  %some = icmp ne i32 %n, 0
  br i1 %some, label %next, label %end

next:                                             ; preds = %entry, %on
  %p = phi i32 [ 0, %entry ], [ %p.next, %on ]
  %count = phi i32 [ 0, %entry ], [ %count.next, %on ]
  %p.next = add nuw nsw i32 %p, 1
  %at = zext nneg i32 %p to i64
  %from = getelementptr inbounds nuw double, ptr addrspace(1) %x, i64 %at
  %d = load double, ptr addrspace(1) %from, align 8
  %room = icmp slt i32 %count, %k
  br i1 %room, label %put, label %ask

ask:                                              ; preds = %next
  %none = icmp slt i32 %count, 1
  %by = select i1 %none, i32 9, i32 -1
  %last = add i32 %by, %count
  %wide = sext i32 %last to i64
  %worst.at = getelementptr inbounds double, ptr %best, i64 %wide
  %worst = load double, ptr %worst.at, align 8, !pyptx.in_range !0
  %less = fcmp olt double %d, %worst
  br i1 %less, label %put, label %on

put:                                              ; preds = %ask, %next
  %more = zext i1 %room to i32
  %now = add nuw nsw i32 %count, %more
  %place = zext nneg i32 %now to i64
  %place.at = getelementptr inbounds double, ptr %best, i64 %place
  store double %d, ptr %place.at, align 8
  br label %on

on:                                               ; preds = %put, %ask
  %count.next = phi i32 [ %now, %put ], [ %count, %ask ]
  %done = icmp eq i32 %p.next, %n
  br i1 %done, label %end, label %next

end:                                              ; preds = %on, %entry
  %first = load double, ptr %best, align 8
  store double %first, ptr addrspace(1) %out, align 8
  ret void
}

!0 = !{}
