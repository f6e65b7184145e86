; opt=3
; The loop counts by row + k; the increment and the first number may be compared for equality.
define ptx_kernel void @cells(ptr addrspace(1) align 4 %x, ptr addrspace(1) align 4 %out, i32 %first, i32 %last, i32 %y, i32 %w) #0 {
entry:
  %row = mul i32 %y, %w
  br label %body

body:
  %k = phi i32 [ %first, %entry ], [ %next, %body ]
  %sum = phi float [ 0.000000e+00, %entry ], [ %more, %body ]
  %cell = add nsw i32 %k, %row
  %wide = sext i32 %cell to i64
  %a = getelementptr inbounds float, ptr addrspace(1) %x, i64 %wide
  %v = load float, ptr addrspace(1) %a, align 4
  %skip = icmp eq i32 %k, 5
  %w2 = select i1 %skip, float 0.000000e+00, float %v
  %more = fadd float %sum, %w2
  %next = add nsw i32 %k, 1
  %done = icmp eq i32 %next, %last
  br i1 %done, label %end, label %body

end:
  store float %more, ptr addrspace(1) %out, align 4
  ret void
}

attributes #0 = { nounwind }
