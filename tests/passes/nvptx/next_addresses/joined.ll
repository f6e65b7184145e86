; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 4 %parent, ptr addrspace(1) align 4 %other, i32 %u, i32 %v) #0 {
entry:
  %some = icmp sgt i32 %u, 0
  br i1 %some, label %loop, label %done

loop:                                             ; preds = %latch, %entry
  %b = phi i32 [ %v, %entry ], [ %b.next, %latch ]
  %a = phi i32 [ %u, %entry ], [ %a.next, %latch ]
  %wide = sext i32 %a to i64
  %p = getelementptr i32, ptr addrspace(1) %parent, i64 %wide
  %up = load i32, ptr addrspace(1) %p, align 4
  %root = icmp eq i32 %up, %a
  br i1 %root, label %unite, label %latch

unite:                                            ; preds = %loop
  %low = call i32 @llvm.smin.i32(i32 %a, i32 %b)
  %high = call i32 @llvm.smax.i32(i32 %a, i32 %b)
  %high.wide = sext i32 %high to i64
  %q = getelementptr i32, ptr addrspace(1) %other, i64 %high.wide
  %old = atomicrmw min ptr addrspace(1) %q, i32 %low syncscope("device") monotonic, align 4
  %same = icmp eq i32 %old, %high
  br i1 %same, label %done, label %latch

latch:                                            ; preds = %unite, %loop
  %b.next = phi i32 [ %low, %unite ], [ %b, %loop ]
  %a.next = phi i32 [ %old, %unite ], [ %up, %loop ]
  br label %loop

done:                                             ; preds = %unite, %entry
  ret void
}

declare i32 @llvm.smin.i32(i32, i32) #1

declare i32 @llvm.smax.i32(i32, i32) #1

attributes #0 = { nounwind }
attributes #1 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
