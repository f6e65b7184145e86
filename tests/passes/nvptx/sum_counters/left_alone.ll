; opt=3
; Left alone: compared for order, used behind the loop, summed with two numbers, or with a parameter.
define ptx_kernel void @others(ptr addrspace(1) align 4 %out, i32 %last, i32 %y, i32 %w) #0 {
entry:
  %row = mul i32 %y, %w
  br label %ordered

ordered:
  %k = phi i32 [ 0, %entry ], [ %knext, %ordered ]
  %c0 = add i32 %k, %row
  store i32 %c0, ptr addrspace(1) %out, align 4
  %knext = add i32 %k, 1
  %kless = icmp slt i32 %knext, %last
  br i1 %kless, label %ordered, label %behind

behind:
  %i = phi i32 [ 0, %ordered ], [ %inext, %behind ]
  %c1 = add i32 %i, %row
  store i32 %c1, ptr addrspace(1) %out, align 4
  %inext = add i32 %i, 1
  %iless = icmp ne i32 %inext, %last
  br i1 %iless, label %behind, label %two

two:
  store i32 %inext, ptr addrspace(1) %out, align 4
  br label %sums

sums:
  %j = phi i32 [ 0, %two ], [ %jnext, %sums ]
  %c2 = add i32 %j, %row
  %c3 = add i32 %j, %inext
  store i32 %c2, ptr addrspace(1) %out, align 4
  store i32 %c3, ptr addrspace(1) %out, align 4
  %jnext = add i32 %j, 1
  %jless = icmp ne i32 %jnext, %last
  br i1 %jless, label %sums, label %parameter

parameter:
  %m = phi i32 [ 0, %sums ], [ %mnext, %parameter ]
  %c4 = add i32 %m, %w
  store i32 %c4, ptr addrspace(1) %out, align 4
  %mnext = add i32 %m, 1
  %mless = icmp ne i32 %mnext, %last
  br i1 %mless, label %parameter, label %end

end:
  ret void
}

attributes #0 = { nounwind }
