; opt=3
define void @k(ptr %x, ptr %out, <16 x i8> %bytes, i64 %n) {
entry:
  %mask = icmp slt <16 x i8> %bytes, zeroinitializer
  br label %loop

loop:                                             ; preds = %loop, %entry
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sum = phi <16 x float> [ zeroinitializer, %entry ], [ %more, %loop ]
  %twos = phi <8 x double> [ zeroinitializer, %entry ], [ %two, %loop ]
  %at = getelementptr float, ptr %x, i64 %i
  %got = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %at, <16 x i1> %mask, <16 x float> poison)
  %all = fadd <16 x float> %sum, %got
  %more = select <16 x i1> %mask, <16 x float> %all, <16 x float> %sum
  %own = fcmp olt <8 x double> %twos, splat (double 1.000000e+00)
  %two = select <8 x i1> %own, <8 x double> splat (double 2.000000e+00), <8 x double> %twos
  %next = add i64 %i, 16
  %is = icmp ult i64 %next, %n
  br i1 %is, label %loop, label %end

end:                                              ; preds = %loop
  %same = select <16 x i1> %mask, <16 x float> %more, <16 x float> zeroinitializer
  store <16 x float> %same, ptr %out, align 64
  store <8 x double> %two, ptr %x, align 64
  ret void
}

declare <16 x float> @llvm.masked.load.v16f32.p0(ptr, <16 x i1>, <16 x float>)
