; opt=3
; A guard by which threads leave says it too; a signed comparison of a number that may be negative does not.
define ptx_kernel void @k(i32 range(i32 0, 1000000) %n, i32 %y, i1 %done, ptr addrspace(1) align 4 %out) #0 {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %outside = icmp uge i32 %i, %n
  %leaves = select i1 %done, i1 true, i1 %outside
  br i1 %leaves, label %end, label %signed

signed:                                           ; preds = %entry
  %less = icmp slt i32 %y, %n
  br i1 %less, label %steps, label %end

steps:                                            ; preds = %signed
  %begin = icmp eq i32 %i, 0
  %from = select i1 %begin, i32 %n, i32 %i
  %left = add i32 %from, -1
  %place = icmp ugt i32 %n, %left
  %a = select i1 %place, i32 %left, i32 -1
  store i32 %a, ptr addrspace(1) %out, align 4
  %next = add i32 %y, 1
  %last = icmp eq i32 %next, %n
  %right = select i1 %last, i32 0, i32 %next
  %unknown = icmp ult i32 %right, %n
  %b = select i1 %unknown, i32 %right, i32 -1
  %second = getelementptr inbounds i8, ptr addrspace(1) %out, i64 4
  store i32 %b, ptr addrspace(1) %second, align 4
  br label %end

end:                                              ; preds = %steps, %signed, %entry
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

attributes #0 = { nounwind }
