; opt=3
define void @k(ptr %x, ptr %y, <16 x i8> %bytes, i64 %n) {
entry:
  %mask = icmp slt <16 x i8> %bytes, zeroinitializer
  br label %loop

loop:                                             ; preds = %loop, %entry
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr double, ptr %x, i64 %i
  %to = getelementptr i16, ptr %y, i64 %i
  call void @llvm.masked.store.v16f64.p0(<16 x double> zeroinitializer, ptr align 8 %at, <16 x i1> %mask)
  call void @llvm.masked.store.v16f32.p0(<16 x float> zeroinitializer, ptr align 4 %at, <16 x i1> %mask)
  call void @llvm.masked.store.v16i16.p0(<16 x i16> zeroinitializer, ptr align 2 %to, <16 x i1> %mask)
  %next = add i64 %i, 16
  %is = icmp ult i64 %next, %n
  br i1 %is, label %loop, label %end

end:                                              ; preds = %loop
  ret void
}

declare void @llvm.masked.store.v16f64.p0(<16 x double>, ptr, <16 x i1>)
declare void @llvm.masked.store.v16f32.p0(<16 x float>, ptr, <16 x i1>)
declare void @llvm.masked.store.v16i16.p0(<16 x i16>, ptr, <16 x i1>)
