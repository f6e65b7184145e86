; opt=3
; Two conditions: of a float32 and an int32 one selection, whether LLVM or if-conversion has made it; not where the inner value is read again, nor of a value that is no operation on the other one.
define ptx_kernel void @k(float %x, float %t, i32 %n, i32 %m, i32 %at, ptr addrspace(1) align 8 %out) #0 {
entry:
  %c = icmp slt i32 %at, 5
  %d = icmp eq i32 %m, 0
  %e1 = icmp ne i32 %n, 3
  %logical = select i1 %c, i1 %d, i1 false
  %sum = fadd float %t, %x
  %a = select i1 %logical, float %sum, float %t
  store float %a, ptr addrspace(1) %out, align 4
  %more = add i32 %n, 1
  %inner = select i1 %d, i32 %n, i32 %more
  %b = select i1 %c, i32 %n, i32 %inner
  %second = getelementptr inbounds i8, ptr addrspace(1) %out, i64 8
  store i32 %b, ptr addrspace(1) %second, align 4
  %less = fsub float %a, %x
  %again = select i1 %d, float %less, float %a
  %e = select i1 %c, float %again, float %a
  %third = getelementptr inbounds i8, ptr addrspace(1) %out, i64 16
  store float %e, ptr addrspace(1) %third, align 4
  %fourth = getelementptr inbounds i8, ptr addrspace(1) %out, i64 24
  store float %again, ptr addrspace(1) %fourth, align 4
  %o = and i1 %d, %e1
  %other = select i1 %o, i32 %m, i32 %n
  %fifth = getelementptr inbounds i8, ptr addrspace(1) %out, i64 32
  store i32 %other, ptr addrspace(1) %fifth, align 4
  ret void
}

attributes #0 = { nounwind }
