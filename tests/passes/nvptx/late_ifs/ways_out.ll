; opt=3
; for k in …: if x[k] >= h: count += 1; if count == h: break
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, ptr addrspace(1) align 4 %out, i32 %n, i32 %h) #0 {
entry:
  br label %loop

loop:                                             ; preds = %entry, %latch
  %k = phi i32 [ 0, %entry ], [ %next, %latch ]
  %count = phi i32 [ 0, %entry ], [ %counted, %latch ]
  %at = sext i32 %k to i64
  %p = getelementptr i32, ptr addrspace(1) %x, i64 %at
  %v = load i32, ptr addrspace(1) %p, align 4
  %less = icmp slt i32 %v, %h
  br i1 %less, label %latch, label %counts

counts:                                           ; preds = %loop
  %more = add nuw nsw i32 %count, 1
  %enough = icmp eq i32 %more, %h
  br i1 %enough, label %done, label %latch

latch:                                            ; preds = %loop, %counts
  %counted = phi i32 [ %count, %loop ], [ %more, %counts ]
  %next = add nsw i32 %k, 1
  %goes.on = icmp slt i32 %next, %n
  br i1 %goes.on, label %loop, label %done

done:                                             ; preds = %counts, %latch
  %end = phi i32 [ %h, %counts ], [ %counted, %latch ]
  store i32 %end, ptr addrspace(1) %out, align 4
  ret void
}

; A side that loads, and one that leads to another place in the loop, stay.
define ptx_kernel void @kept(ptr addrspace(1) align 4 %x, ptr addrspace(1) align 4 %out, i32 %n, i32 %h) #0 {
entry:
  br label %loop

loop:                                             ; preds = %entry, %latch
  %k = phi i32 [ 0, %entry ], [ %next, %latch ]
  %count = phi i32 [ 0, %entry ], [ %counted, %latch ]
  %at = sext i32 %k to i64
  %p = getelementptr i32, ptr addrspace(1) %x, i64 %at
  %v = load i32, ptr addrspace(1) %p, align 4
  %less = icmp slt i32 %v, %h
  br i1 %less, label %latch, label %loads

loads:                                            ; preds = %loop
  %other = getelementptr i8, ptr addrspace(1) %p, i64 4
  %w = load i32, ptr addrspace(1) %other, align 4
  %stop = icmp eq i32 %w, %h
  br i1 %stop, label %done, label %asks

asks:                                             ; preds = %loads
  %more = add nuw nsw i32 %count, 1
  %odd = icmp sgt i32 %more, %w
  br i1 %odd, label %stores, label %latch

stores:                                           ; preds = %asks
  store i32 %w, ptr addrspace(1) %out, align 4
  br label %latch

latch:                                            ; preds = %loop, %asks, %stores
  %counted = phi i32 [ %count, %loop ], [ %more, %asks ], [ 0, %stores ]
  %next = add nsw i32 %k, 1
  %goes.on = icmp slt i32 %next, %n
  br i1 %goes.on, label %loop, label %done

done:                                             ; preds = %loads, %latch
  %end = phi i32 [ %w, %loads ], [ %counted, %latch ]
  store i32 %end, ptr addrspace(1) %out, align 4
  ret void
}

attributes #0 = { nounwind }
