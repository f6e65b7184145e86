; of other lengths, without a sign, of vectors: they stay as they are
define i16 @k(float %x, half %h, <4 x float> %v, ptr %out) {
entry:
  %short = call i16 @llvm.fptosi.sat.i16.f32(float %x)
  %half = call i32 @llvm.fptosi.sat.i32.f16(half %h)
  %positive = call i64 @llvm.fptoui.sat.i64.f32(float %x)
  %all = call <4 x i32> @llvm.fptosi.sat.v4i32.v4f32(<4 x float> %v)
  store i32 %half, ptr %out
  store i64 %positive, ptr %out
  store <4 x i32> %all, ptr %out
  ret i16 %short
}

declare i16 @llvm.fptosi.sat.i16.f32(float)
declare i32 @llvm.fptosi.sat.i32.f16(half)
declare i64 @llvm.fptoui.sat.i64.f32(float)
declare <4 x i32> @llvm.fptosi.sat.v4i32.v4f32(<4 x float>)
