; opt=3
; Two coarsened copies: the stores of each come together, as they are stores of different threads.
define ptx_kernel void @k(ptr addrspace(1) noalias align 4 %in, ptr addrspace(1) noalias align 1 %out, i32 range(i32 0, 4096) %row) #0 {
entry:
  br label %loop

loop:
  %k = phi i32 [ 0, %entry ], [ %next, %loop ]
  %at = phi i32 [ 0, %entry ], [ %b, %loop ]
  %from = and i32 %at, 1023
  %i = zext nneg i32 %from to i64
  %p = getelementptr inbounds nuw i32, ptr addrspace(1) %in, i64 %i
  %a = load i32, ptr addrspace(1) %p, align 4
  %x = trunc i32 %a to i8
  %w = zext nneg i32 %k to i64
  %first = getelementptr inbounds nuw i8, ptr addrspace(1) %out, i64 %w
  %sum = add nuw nsw i32 %k, %row
  %v = zext nneg i32 %sum to i64
  %second = getelementptr inbounds nuw i8, ptr addrspace(1) %out, i64 %v
  store i8 %x, ptr addrspace(1) %first, align 1, !pyptx.copy !0
  store i8 %x, ptr addrspace(1) %second, align 1, !pyptx.copy !1
  %to = and i32 %a, 1023
  %j = zext nneg i32 %to to i64
  %q = getelementptr inbounds nuw i32, ptr addrspace(1) %in, i64 %j
  %b = load i32, ptr addrspace(1) %q, align 4
  %y = trunc i32 %b to i8
  %third = getelementptr inbounds nuw i8, ptr addrspace(1) %first, i64 1
  %fourth = getelementptr inbounds nuw i8, ptr addrspace(1) %second, i64 1
  store i8 %y, ptr addrspace(1) %third, align 1, !pyptx.copy !0
  store i8 %y, ptr addrspace(1) %fourth, align 1, !pyptx.copy !1
  %next = add nuw nsw i32 %k, 2
  %more = icmp samesign ult i32 %next, 64
  br i1 %more, label %loop, label %done

done:
  ret void
}

attributes #0 = { nounwind }
!0 = !{i32 0}
!1 = !{i32 1}
