; opt=3
; %rows and %columns were extended in another block: once more beside the product. %far has 64 bits.
define ptx_kernel void @k(i32 %rows, i32 %columns, i32 %sign, i64 %far, ptr addrspace(1) align 8 %out) #0 {
entry:
  %r = zext i32 %rows to i64
  %c = zext nneg i32 %columns to i64
  %s = sext i32 %sign to i64
  %some = icmp ne i32 %rows, 0
  br i1 %some, label %then, label %end

then:
  %elements = mul nuw i64 %r, %c
  store i64 %elements, ptr addrspace(1) %out, align 8
  %signed = mul nsw i64 %s, %c
  %second = getelementptr i64, ptr addrspace(1) %out, i64 1
  store i64 %signed, ptr addrspace(1) %second, align 8
  %twelve = mul i64 %s, -12
  %third = getelementptr i64, ptr addrspace(1) %out, i64 2
  store i64 %twelve, ptr addrspace(1) %third, align 8
  %mixed = mul i64 %s, %r
  %fourth = getelementptr i64, ptr addrspace(1) %out, i64 3
  store i64 %mixed, ptr addrspace(1) %fourth, align 8
  %long = mul i64 %c, %far
  %fifth = getelementptr i64, ptr addrspace(1) %out, i64 4
  store i64 %long, ptr addrspace(1) %fifth, align 8
  br label %end

end:
  ret void
}

attributes #0 = { nounwind }
