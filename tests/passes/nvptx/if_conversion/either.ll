; opt=3
define internal float @either(i32 %h, float %x, float %y, float %z) {
entry:
  %low = icmp slt i32 %h, 4
  br i1 %low, label %first, label %a

first:                                            ; preds = %entry
  ret float %y

a:                                                ; preds = %entry
  %p = icmp eq i32 %h, 12
  br i1 %p, label %second, label %b

b:                                                ; preds = %a
  %q = icmp eq i32 %h, 14
  br i1 %q, label %second, label %third

second:                                           ; preds = %a, %b
  ret float %x

third:                                            ; preds = %b
  %n = fneg float %z
  ret float %n
}

define ptx_kernel void @k(ptr addrspace(1) align 4 %0, i32 %h, float %x) #0 {
entry:
  %v = call float @either(i32 %h, float %x, float 1.000000e+00, float 2.000000e+00)
  %p = icmp sgt i32 %h, 3
  br i1 %p, label %a, label %no

a:                                                ; preds = %entry
  %y = load float, ptr addrspace(1) %0, align 4
  %q = fcmp ogt float %y, %x
  br i1 %q, label %yes, label %no

yes:                                              ; preds = %a
  br label %done

no:                                               ; preds = %entry, %a
  br label %done

done:                                             ; preds = %yes, %no
  %r = phi float [ %v, %yes ], [ %x, %no ]
  store float %r, ptr addrspace(1) %0, align 4
  ret void
}

attributes #0 = { nounwind }
