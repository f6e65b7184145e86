; opt=3
; A factor that LLVM has shifted: the product is shifted instead. One that is used as it is stays.
define ptx_kernel void @k(i32 %rows, i32 %columns, ptr addrspace(1) align 8 %out) #0 {
entry:
  %r = zext nneg i32 %rows to i64
  %c = zext nneg i32 %columns to i64
  %some = icmp ne i32 %rows, 0
  br i1 %some, label %then, label %end

then:
  %four = shl nuw nsw i64 %r, 2
  %bytes = mul nuw i64 %four, %c
  store i64 %bytes, ptr addrspace(1) %out, align 8
  %eight = shl nuw nsw i64 %c, 3
  %kept = mul nuw i64 %eight, %r
  %second = getelementptr i64, ptr addrspace(1) %out, i64 1
  store i64 %kept, ptr addrspace(1) %second, align 8
  %third = getelementptr i64, ptr addrspace(1) %out, i64 2
  store i64 %eight, ptr addrspace(1) %third, align 8
  br label %end

end:
  ret void
}

attributes #0 = { nounwind }
