; opt=3
; Behind (t & 7) >= 4 the place 2 * t - (t & 3) - 4 is at least t - 4, behind (t & 1) != 0 that of 1,
; and behind t & mask >= stride that of the stride: none is wrapped.
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, i32 %mask, i32 %stride) #0 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %twice = shl nuw nsw i32 %t, 1
  %part = and i32 %t, 7
  %few = icmp ult i32 %part, 4
  br i1 %few, label %next, label %four

four:                                             ; preds = %entry
  %rest = and i32 %t, 3
  %at = sub nuw nsw i32 %twice, %rest
  %low = add nsw i32 %at, -4
  %up = add nuw nsw i32 %at, 1020
  %i = call i32 @llvm.umin.i32(i32 %low, i32 %up)
  %wide = zext nneg i32 %i to i64
  %p = getelementptr i32, ptr addrspace(1) %x, i64 %wide
  store i32 1, ptr addrspace(1) %p, align 4
  br label %next

next:                                             ; preds = %four, %entry
  %odd = and i32 %t, 1
  %even = icmp eq i32 %odd, 0
  br i1 %even, label %last, label %one

one:                                              ; preds = %next
  %rest.2 = and i32 %t, %mask
  %at.1 = sub nuw nsw i32 %twice, %rest.2
  %low.1 = add nsw i32 %at.1, -1
  %up.1 = add nuw nsw i32 %low.1, 1024
  %i.1 = call i32 @llvm.umin.i32(i32 %low.1, i32 %up.1)
  %wide.1 = zext nneg i32 %i.1 to i64
  %p.1 = getelementptr i32, ptr addrspace(1) %x, i64 %wide.1
  store i32 2, ptr addrspace(1) %p.1, align 4
  br label %last

last:                                             ; preds = %one, %next
  %left = and i32 %t, %mask
  %enough = icmp uge i32 %left, %stride
  br i1 %enough, label %far, label %done

far:                                              ; preds = %last
  %at.2 = sub nuw nsw i32 %twice, %left
  %low.2 = sub nsw i32 %at.2, %stride
  %up.2 = add i32 %low.2, 1024
  %i.2 = call i32 @llvm.umin.i32(i32 %low.2, i32 %up.2)
  %wide.2 = zext nneg i32 %i.2 to i64
  %p.2 = getelementptr i32, ptr addrspace(1) %x, i64 %wide.2
  store i32 3, ptr addrspace(1) %p.2, align 4
  br label %done

done:                                             ; preds = %far, %last
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.umin.i32(i32, i32)

attributes #0 = { nounwind }
