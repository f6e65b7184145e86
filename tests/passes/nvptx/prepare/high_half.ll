; opt=3
; elements at odd places are masked, the others and those of other widths stay
define ptx_kernel void @k(ptr addrspace(1) %0, ptr addrspace(1) %1, <4 x i8> %2) #0 {
entry:
  %3 = load <4 x bfloat>, ptr addrspace(1) %0, align 8
  %bc = bitcast <4 x bfloat> %3 to <4 x i16>
  %4 = extractelement <4 x i16> %bc, i64 2
  %5 = zext i16 %4 to i32
  %6 = shl nuw i32 %5, 16
  %7 = bitcast i32 %6 to float
  %8 = extractelement <4 x bfloat> %3, i64 3
  %9 = bitcast bfloat %8 to i16
  %10 = zext i16 %9 to i32
  %11 = shl nuw i32 %10, 16
  %12 = bitcast i32 %11 to float
  %13 = fadd float %7, %12
  store float %13, ptr addrspace(1) %1, align 4
  %14 = extractelement <4 x i8> %2, i64 1
  %15 = zext i8 %14 to i32
  %16 = shl nuw i32 %15, 16
  store i32 %16, ptr addrspace(1) %1, align 4
  ret void
}

attributes #0 = { nounwind }
