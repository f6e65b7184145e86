; opt=3
; Loads at addresses that counters alone say: stores stay.
define ptx_kernel void @k(ptr addrspace(1) noalias align 4 %in, ptr addrspace(1) noalias align 4 %out, i32 range(i32 0, 4096) %n) #0 {
entry:
  br label %loop

loop:
  %k = phi i32 [ 0, %entry ], [ %next, %loop ]
  %w = zext nneg i32 %k to i64
  %p = getelementptr inbounds nuw float, ptr addrspace(1) %in, i64 %w
  %a = load float, ptr addrspace(1) %p, align 4
  %to = getelementptr inbounds nuw float, ptr addrspace(1) %out, i64 %w
  store float %a, ptr addrspace(1) %to, align 4
  %q = getelementptr inbounds nuw i8, ptr addrspace(1) %p, i64 4
  %b = load float, ptr addrspace(1) %q, align 4
  %v = getelementptr inbounds nuw i8, ptr addrspace(1) %to, i64 4
  store float %b, ptr addrspace(1) %v, align 4
  %next = add nuw nsw i32 %k, 2
  %more = icmp samesign ult i32 %next, %n
  br i1 %more, label %loop, label %done

done:
  ret void
}

attributes #0 = { nounwind }
