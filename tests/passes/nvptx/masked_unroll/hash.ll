; opt=3
; The least of a permutation's values: a product, a sum, a shift, a comparison and a selection of 64
; bits are some twelve instructions, so that LLVM unrolls the loop, and what is left over is marked.
define ptx_kernel void @k(ptr addrspace(1) align 8 %items, i32 %first, i32 %last, i64 %a, i64 %b, ptr addrspace(1) align 8 %out) #0 {
entry:
  %any = icmp slt i32 %first, %last
  br i1 %any, label %item, label %end

item:                                             ; preds = %entry, %item
  %k = phi i32 [ %k1, %item ], [ %first, %entry ]
  %low = phi i64 [ %low1, %item ], [ -1, %entry ]
  %k1 = add nsw i32 %k, 1
  %wide = sext i32 %k to i64
  %p = getelementptr inbounds i64, ptr addrspace(1) %items, i64 %wide
  %x = load i64, ptr addrspace(1) %p, align 8
  %xa = mul i64 %x, %a
  %xab = add i64 %xa, %b
  %h = lshr i64 %xab, 3
  %less = icmp ult i64 %h, %low
  %low1 = select i1 %less, i64 %h, i64 %low
  %done = icmp eq i32 %k1, %last
  br i1 %done, label %end, label %item, !llvm.loop !0

end:                                              ; preds = %entry, %item
  %result = phi i64 [ -1, %entry ], [ %low1, %item ]
  store i64 %result, ptr addrspace(1) %out, align 8
  ret void
}

attributes #0 = { nounwind }

!0 = distinct !{!0, !1, !2}
!1 = !{!"llvm.loop.unroll.disable"}
!2 = !{!"pyptx.masked", i32 8}
