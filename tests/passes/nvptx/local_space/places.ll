; opt=3
; the place of an array whose index varies is a comment of its move; of the others nothing is said
define ptx_kernel void @k(ptr addrspace(1) align 4 %0, i64 %1) #0 {
entry:
  %a = alloca [24 x i8], align 4, !pyptx.place !0
  %b = alloca [16 x i8], align 4, !pyptx.place !1
  %c = alloca [8 x i8], align 4
  %2 = load float, ptr addrspace(1) %0, align 4
  %3 = getelementptr inbounds float, ptr %a, i64 %1
  store float %2, ptr %3, align 4
  %4 = getelementptr inbounds float, ptr %b, i64 2
  store float %2, ptr %4, align 4
  %5 = getelementptr inbounds float, ptr %c, i64 %1
  store float %2, ptr %5, align 4
  %6 = load float, ptr %a, align 4
  %7 = load float, ptr %4, align 4
  %8 = load float, ptr %c, align 4
  %9 = fadd float %6, %7
  %10 = fadd float %8, %9
  store float %10, ptr addrspace(1) %0, align 4
  ret void
}

attributes #0 = { nounwind }

!0 = !{!"// local.array[24] at 3:8-40 in k of a$$b.py"}
!1 = !{!"// local.array[16] at 4:8-40 in k of a$$b.py"}
