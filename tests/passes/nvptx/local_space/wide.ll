; opt=3
; Neighbours of an array that stays in memory, whose size is a multiple of 16 bytes, are stored and
; read together.
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, i64 %place) #0 {
entry:
  %a = alloca [32 x i8], align 4
  %one = load i32, ptr addrspace(1) %x, align 4
  %p.any = getelementptr inbounds i32, ptr %a, i64 %place
  store i32 %one, ptr %p.any, align 4
  %two = add i32 %one, 2
  %three = mul i32 %one, 3
  %p4 = getelementptr inbounds i8, ptr %a, i64 16
  store i32 %one, ptr %p4, align 4
  %p5 = getelementptr inbounds i8, ptr %a, i64 20
  store i32 %two, ptr %p5, align 4
  %p6 = getelementptr inbounds i8, ptr %a, i64 24
  store i32 %three, ptr %p6, align 4
  %p7 = getelementptr inbounds i8, ptr %a, i64 28
  store i32 %two, ptr %p7, align 4
  %last = load i32, ptr %p.any, align 4
  store i32 %last, ptr addrspace(1) %x, align 4
  ret void
}

attributes #0 = { nounwind }
