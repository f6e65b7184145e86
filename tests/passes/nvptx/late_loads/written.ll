; opt=3
define ptx_kernel void @f(ptr addrspace(1) align 4 %k, ptr addrspace(1) align 4 %out, i32 %n) #0 {
entry:
;times 32
  %p# = getelementptr inbounds i32, ptr addrspace(1) %k, i64 #
;times 32
  %k# = load i32, ptr addrspace(1) %p#, align 4
  br label %loop

loop:                                             ; preds = %loop, %entry
  %t = phi i32 [ 0, %entry ], [ %next, %loop ]
;times 360
  %x# = add i32 %t, #
;times 32
  %a# = mul i32 %k#, %t
  store i32 %a1, ptr addrspace(1) %out, align 4
  %next = add nuw nsw i32 %t, 1
  %again = icmp slt i32 %next, %n
  br i1 %again, label %loop, label %done

done:                                             ; preds = %loop
  store i32 %a0, ptr addrspace(1) %out, align 4
  ret void
}

attributes #0 = { nounwind }
