; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 4 %out, i32 %k) #0 {
entry:
  %few = icmp samesign ult i32 %k, 32
  %shift = shl nuw i32 2, %k
  %low = trunc i32 %shift to i8
  %bit = select i1 %few, i8 %low, i8 0
  store i8 %bit, ptr addrspace(1) %out, align 1
  %fewer = icmp ult i32 %k, 31
  %kept = select i1 %fewer, i8 %low, i8 0
  store i8 %kept, ptr addrspace(1) %out, align 1
  ret void
}

attributes #0 = { nounwind }
