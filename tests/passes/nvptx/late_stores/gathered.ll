; opt=3
; The channels of one thread's element: what is loaded at a place that was read goes in front of the stores, in a loop and in none.
define ptx_kernel void @k(ptr addrspace(1) noalias align 4 %table, ptr addrspace(1) noalias align 4 %out, i32 range(i32 0, 4096) %n) #0 {
entry:
  %p0 = load i32, ptr addrspace(1) %table, align 4
  %o0 = and i32 %p0, 1023
  %x0 = zext nneg i32 %o0 to i64
  %t0 = getelementptr inbounds nuw float, ptr addrspace(1) %table, i64 %x0
  %a0 = load float, ptr addrspace(1) %t0, align 4
  %s0 = fmul float %a0, 2.0
  store float %s0, ptr addrspace(1) %out, align 4
  %u0 = getelementptr inbounds nuw i8, ptr addrspace(1) %t0, i64 4
  %b0 = load float, ptr addrspace(1) %u0, align 4
  %v0 = getelementptr inbounds nuw i8, ptr addrspace(1) %out, i64 4
  store float %b0, ptr addrspace(1) %v0, align 4
  br label %loop

loop:
  %k = phi i32 [ 0, %entry ], [ %next, %loop ]
  %w = zext nneg i32 %k to i64
  %in = getelementptr inbounds nuw i32, ptr addrspace(1) %table, i64 %w
  %place = load i32, ptr addrspace(1) %in, align 4
  %from = and i32 %place, 1023
  %x = zext nneg i32 %from to i64
  %t = getelementptr inbounds nuw float, ptr addrspace(1) %table, i64 %x
  %a = load float, ptr addrspace(1) %t, align 4
  %s = fmul float %a, 2.0
  %to = getelementptr inbounds nuw float, ptr addrspace(1) %out, i64 %w
  store float %s, ptr addrspace(1) %to, align 4
  %u = getelementptr inbounds nuw i8, ptr addrspace(1) %t, i64 4
  %b = load float, ptr addrspace(1) %u, align 4
  %v = getelementptr inbounds nuw i8, ptr addrspace(1) %to, i64 4
  store float %b, ptr addrspace(1) %v, align 4
  %next = add nuw nsw i32 %k, 2
  %more = icmp samesign ult i32 %next, %n
  br i1 %more, label %loop, label %done

done:
  ret void
}

attributes #0 = { nounwind }
