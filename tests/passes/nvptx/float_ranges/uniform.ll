; opt=3
; A random number of 2**-24 to 1 is not tiny, not infinite and not 0; of %n the last is not known.
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, i32 %s, i32 %n) #0 {
entry:
  %high = lshr i32 %s, 8
  %more = add nuw nsw i32 %high, 1
  %whole = uitofp i32 %more to float
  %u = fmul float %whole, 0x3E70000000000000
  %tiny = fcmp olt float %u, 0x3810000000000000
  %scaled = fmul float %u, 0x4160000000000000
  %v = select i1 %tiny, float %scaled, float %u
  %shift = select i1 %tiny, float -2.300000e+01, float 0.000000e+00
  %bits = bitcast float %v to i32
  %huge = icmp ugt i32 %bits, 2139095039
  %w = select i1 %huge, float 0x7FF0000000000000, float %shift
  %none = fcmp oeq float %v, 0.000000e+00
  %r = select i1 %none, float 0xFFF0000000000000, float %w
  store float %r, ptr addrspace(1) %x, align 4
  %count = uitofp i32 %n to float
  %empty = fcmp oeq float %count, 0.000000e+00
  %t = select i1 %empty, float 1.000000e+00, float %count
  store float %t, ptr addrspace(1) %x, align 4
  ret void
}

attributes #0 = { nounwind }
