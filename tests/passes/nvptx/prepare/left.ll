; opt=3
; Is something left over, asked by what is left; %m, of which 5 is no mask of low bits, is asked as it is.
define ptx_kernel void @k(i32 %n, i32 %m, ptr addrspace(1) align 4 %out) #0 {
entry:
  %rounds = lshr i32 %n, 5
  %trips = add nuw nsw i32 %rounds, 1
  %left = and i32 %trips, 7
  %bits = and i32 %n, 224
  %none = icmp eq i32 %bits, 224
  br i1 %none, label %next, label %one

one:
  store i32 %left, ptr addrspace(1) %out, align 4
  br label %next

next:
  %more = add i32 %m, 1
  %rest = and i32 %more, 3
  %low = and i32 %m, 3
  %any = icmp ne i32 %low, 3
  br i1 %any, label %two, label %last

two:
  %second = getelementptr i32, ptr addrspace(1) %out, i64 1
  store i32 %rest, ptr addrspace(1) %second, align 4
  br label %last

last:
  %odd = and i32 %more, 5
  %of = and i32 %m, 5
  %all = icmp eq i32 %of, 5
  br i1 %all, label %end, label %three

three:
  %third = getelementptr i32, ptr addrspace(1) %out, i64 2
  store i32 %odd, ptr addrspace(1) %third, align 4
  br label %end

end:
  ret void
}

attributes #0 = { nounwind }
