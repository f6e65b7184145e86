; opt=3
; The second question about %n is asked by another name; one about %m, and the first, stay.
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, i32 %n, i32 %m, ptr addrspace(1) align 4 %out) #0 {
entry:
  %few = icmp slt i32 %n, 33
  br i1 %few, label %one, label %next

one:                                              ; preds = %entry
  store float 1.000000e+00, ptr addrspace(1) %out, align 4
  br label %next

next:                                             ; preds = %one, %entry
  %still = icmp slt i32 %n, 33
  br i1 %still, label %two, label %last

two:                                              ; preds = %next
  store float 2.000000e+00, ptr addrspace(1) %x, align 4
  br label %last

last:                                             ; preds = %two, %next
  %other = icmp slt i32 %m, 33
  br i1 %other, label %three, label %behind

three:                                            ; preds = %last
  store float 3.000000e+00, ptr addrspace(1) %x, align 4
  br label %behind

behind:                                           ; preds = %three, %last
  ret void
}

attributes #0 = { nounwind }
