; opt=3
; Shifted to the right by enough, a number below 0 is -1: the terms may be negative, and so may their sum.
define ptx_kernel void @k(i32 %a, i32 %b, i32 range(i32 0, 32) %by, ptr addrspace(1) align 8 %out) #0 {
entry:
  %a0 = call i32 @llvm.smin.i32(i32 %a, i32 -5)
  %a1 = call i32 @llvm.smax.i32(i32 %a0, i32 -1000)
  %a2 = ashr i32 %a1, %by
  %a3 = sub nsw i32 -3, %a2
  %b0 = call i32 @llvm.smin.i32(i32 %b, i32 -5)
  %b1 = call i32 @llvm.smax.i32(i32 %b0, i32 -1000)
  %b2 = ashr i32 %b1, %by
  %b3 = sub nsw i32 -3, %b2
  %first = sext i32 %a3 to i64
  %second = sext i32 %b3 to i64
  %total = load i64, ptr addrspace(1) %out, align 8
  %one = add i64 %total, %first
  %two = add i64 %one, %second
  store i64 %two, ptr addrspace(1) %out, align 8
  ret void
}

declare i32 @llvm.smin.i32(i32, i32)

declare i32 @llvm.smax.i32(i32, i32)

attributes #0 = { nounwind }
