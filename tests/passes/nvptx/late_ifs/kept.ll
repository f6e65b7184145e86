; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, ptr addrspace(1) align 4 %out, i32 %n, float %y) #0 {
entry:
  %u = load i32, ptr addrspace(1) %x, align 4
  %some = icmp sgt i32 %n, 0
  br i1 %some, label %divides, label %flags

divides:                                          ; preds = %entry
  %q = sdiv i32 %u, %n
  br label %flags

flags:                                            ; preds = %divides, %entry
  %v = phi i32 [ %u, %entry ], [ %q, %divides ]
  %less = icmp slt i32 %v, 7
  br i1 %less, label %asks, label %long

asks:                                             ; preds = %flags
  %odd = trunc i32 %v to i1
  br label %long

long:                                             ; preds = %asks, %flags
  %flag = phi i1 [ false, %flags ], [ %odd, %asks ]
  br i1 %flag, label %steps, label %loads

steps:                                            ; preds = %long
  %a = fmul float %y, %y
  %b = fadd float %a, %y
  %c = fmul float %b, %a
  %d = fadd float %c, %y
  %e = fmul float %d, %a
  %f = fadd float %e, %y
  %g = fmul float %f, %a
  %h = fadd float %g, %y
  %i = fmul float %h, %a
  %j = fadd float %i, %y
  br label %loads

loads:                                            ; preds = %steps, %long
  %w = phi float [ %y, %long ], [ %j, %steps ]
  %near = fcmp olt float %w, 1.000000e+00
  br i1 %near, label %reads, label %done

reads:                                            ; preds = %loads
  %z = load float, ptr addrspace(1) %x, align 4
  br label %done

done:                                             ; preds = %reads, %loads
  %r = phi float [ %w, %loads ], [ %z, %reads ]
  store float %r, ptr addrspace(1) %out, align 4
  ret void
}

attributes #0 = { nounwind }
