; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 8 %x, double %first, double %second, float %third, i1 %more) {
entry:
  %y = load double, ptr addrspace(1) %x, align 8
  %at = getelementptr inbounds i8, ptr addrspace(1) %x, i64 8
  %z = load float, ptr addrspace(1) %at, align 4
  br i1 %more, label %one, label %two

one:                                              ; preds = %entry
  %a = fdiv double %first, %y
  store double %a, ptr addrspace(1) %x, align 8
  br label %end

two:                                              ; preds = %entry
  %b = fdiv double %second, %y
  store double %b, ptr addrspace(1) %x, align 8
  %c = fdiv float %third, %z
  %d = fdiv float %c, %z
  store float %d, ptr addrspace(1) %at, align 4
  br label %end

end:                                              ; preds = %two, %one
  ret void
}
