; opt=3
; What the branches say does not do: 3 is less than 4, the other number is not t's, where it is fewer
; the place may be negative, and n may be so large that twice as much has a sign.
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, i32 %n) #0 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %twice = shl nuw nsw i32 %t, 1
  %part = and i32 %t, 7
  %rest = and i32 %t, 3
  %at = sub nuw nsw i32 %twice, %rest
  %low = add nsw i32 %at, -4
  %up = add nuw nsw i32 %at, 1020
  %three = icmp uge i32 %part, 3
  br i1 %three, label %one, label %next

one:                                              ; preds = %entry
  %i = call i32 @llvm.umin.i32(i32 %low, i32 %up)
  %wide = zext nneg i32 %i to i64
  %p = getelementptr i32, ptr addrspace(1) %x, i64 %wide
  store i32 1, ptr addrspace(1) %p, align 4
  br label %next

next:                                             ; preds = %one, %entry
  %many = icmp uge i32 %n, 4
  br i1 %many, label %two, label %fewer

two:                                              ; preds = %next
  %i.1 = call i32 @llvm.umin.i32(i32 %low, i32 %up)
  %wide.1 = zext nneg i32 %i.1 to i64
  %p.1 = getelementptr i32, ptr addrspace(1) %x, i64 %wide.1
  store i32 2, ptr addrspace(1) %p.1, align 4
  %twice.n = shl i32 %n, 1
  %rest.n = and i32 %n, 3
  %at.n = sub i32 %twice.n, %rest.n
  %low.n = add i32 %at.n, -4
  %up.n = add i32 %at.n, 1020
  %i.n = call i32 @llvm.umin.i32(i32 %low.n, i32 %up.n)
  %wide.n = zext i32 %i.n to i64
  %p.n = getelementptr i32, ptr addrspace(1) %x, i64 %wide.n
  store i32 3, ptr addrspace(1) %p.n, align 4
  br label %fewer

fewer:                                            ; preds = %two, %next
  %less = icmp ult i32 %part, 4
  br i1 %less, label %last, label %done

last:                                             ; preds = %fewer
  %i.2 = call i32 @llvm.umin.i32(i32 %low, i32 %up)
  %wide.2 = zext nneg i32 %i.2 to i64
  %p.2 = getelementptr i32, ptr addrspace(1) %x, i64 %wide.2
  store i32 4, ptr addrspace(1) %p.2, align 4
  br label %done

done:                                             ; preds = %last, %fewer
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.umin.i32(i32, i32)

attributes #0 = { nounwind }
