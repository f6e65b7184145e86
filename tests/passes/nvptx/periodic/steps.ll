; opt=3
; A place that steps around a period of %n have left is one again: no question, no division. Of %y nothing is known.
define ptx_kernel void @k(i32 range(i32 0, 1000000) %n, i32 %y, ptr addrspace(1) align 4 %out) #0 {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %inside = icmp ult i32 %i, %n
  br i1 %inside, label %first, label %end

first:                                            ; preds = %entry
  %up = add nuw i32 %i, 1
  %last = icmp eq i32 %up, %n
  %right = select i1 %last, i32 0, i32 %up
  %place = icmp ult i32 %right, %n
  br i1 %place, label %near, label %far

near:                                             ; preds = %first
  %begin = icmp eq i32 %right, 0
  %from = select i1 %begin, i32 %n, i32 %right
  %down = add i32 %from, -1
  br label %joined

far:                                              ; preds = %first
  %before = add i32 %right, -1
  %rest = urem i32 %before, %n
  br label %joined

joined:                                           ; preds = %far, %near
  %back = phi i32 [ %down, %near ], [ %rest, %far ]
  %still = icmp ult i32 %back, %n
  %a = select i1 %still, i32 %back, i32 -1
  store i32 %a, ptr addrspace(1) %out, align 4
  %next = add nuw i32 %y, 1
  %wraps = icmp eq i32 %next, %n
  %other = select i1 %wraps, i32 0, i32 %next
  %unknown = icmp ult i32 %other, %n
  %b = select i1 %unknown, i32 %other, i32 -1
  %second = getelementptr inbounds i8, ptr addrspace(1) %out, i64 4
  store i32 %b, ptr addrspace(1) %second, align 4
  br label %end

end:                                              ; preds = %joined, %entry
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

attributes #0 = { nounwind }
