; opt=3
; Two registers of AVX2 each; one register, bits and what others may see stay.
define void @k(ptr %x, ptr %y, <16 x float> %a, <8 x double> %b, <64 x i8> %c, <8 x i32> %one, <16 x i1> %bits) {
entry:
  store <16 x float> %a, ptr %x, align 4
  %at = getelementptr i8, ptr %x, i64 128
  store <8 x double> %b, ptr %at, align 64
  store <64 x i8> %c, ptr %y, align 1
  store <8 x i32> %one, ptr %y, align 32
  store <16 x i1> %bits, ptr %y, align 2
  store volatile <16 x float> %a, ptr %y, align 4
  ret void
}
