; opt=3 avx512
; One register of AVX-512 stays; two are two stores, of a constant, too.
define void @k(ptr %x, ptr %y, <16 x float> %a, <16 x i64> %b) {
entry:
  store <16 x float> %a, ptr %x, align 4
  store <16 x i64> %b, ptr %y, align 8
  store <32 x i32> zeroinitializer, ptr %x, align 64
  ret void
}
