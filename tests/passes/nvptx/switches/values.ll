; opt=3
; Bytes that lead to one of three values, each by an empty side or by none; of an int64 two; a value that was computed in front, and a flag; numbers near each other as bits of a mask.
define ptx_kernel void @k(ptr addrspace(1) align 1 %text, i64 %wide, i32 %n, ptr addrspace(1) align 4 %out) #0 {
entry:
  %c = load i8, ptr addrspace(1) %text, align 1
  switch i8 %c, label %none [
    i8 40, label %join
    i8 91, label %join
    i8 -5, label %join
    i8 41, label %closes
    i8 42, label %closes
    i8 43, label %closes
  ]

closes:                                           ; preds = %entry, %entry, %entry
  br label %join

none:                                             ; preds = %entry
  br label %join

join:                                             ; preds = %none, %closes, %entry, %entry, %entry
  %v = phi i32 [ 0, %none ], [ -1, %closes ], [ 1, %entry ], [ 1, %entry ], [ 1, %entry ]
  %same = phi i32 [ %n, %none ], [ %n, %closes ], [ %n, %entry ], [ %n, %entry ], [ %n, %entry ]
  %sum = add i32 %v, %same
  switch i64 %wide, label %last [
    i64 -1, label %other
    i64 4294967296, label %other
  ]

other:                                            ; preds = %join, %join
  br label %last

last:                                             ; preds = %other, %join
  %w = phi i32 [ %sum, %join ], [ %n, %other ]
  %flag = phi i1 [ false, %join ], [ true, %other ]
  %x = zext i1 %flag to i32
  %y = add i32 %w, %x
  switch i32 %n, label %rest [
    i32 3, label %end
    i32 5, label %end
    i32 7, label %end
    i32 9, label %end
    i32 11, label %end
    i32 13, label %end
    i32 14, label %end
    i32 34, label %end
    i32 35, label %end
  ]

rest:                                             ; preds = %last
  br label %end

end:                                              ; preds = %rest, %last, %last, %last, %last, %last, %last, %last, %last, %last
  %z = phi i32 [ 0, %rest ], [ %y, %last ], [ %y, %last ], [ %y, %last ], [ %y, %last ], [ %y, %last ], [ %y, %last ], [ %y, %last ], [ %y, %last ], [ %y, %last ]
  store i32 %z, ptr addrspace(1) %out, align 4
  ret void
}

attributes #0 = { nounwind }
