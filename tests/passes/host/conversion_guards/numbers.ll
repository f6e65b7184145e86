; the least integer is what x86 makes of all that no integer is
define i64 @k(float %x, double %y) {
entry:
  %wide = call i64 @llvm.fptosi.sat.i64.f32(float %x)
  %narrow = call i32 @llvm.fptosi.sat.i32.f64(double %y)
  %more = sext i32 %narrow to i64
  %sum = add i64 %wide, %more
  ret i64 %sum
}

declare i64 @llvm.fptosi.sat.i64.f32(float)
declare i32 @llvm.fptosi.sat.i32.f64(double)
