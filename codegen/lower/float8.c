/* 8-bit floats: float8_e4m3fn, float8_e5m2 and float8_e8m0fnu, which are an i8 in LLVM.
 *
 * Only conversions exist: typing computes in float32. They are the target's instructions, where it
 * has some (Target.float8_to_float, float_to_float8), else integer and half operations, which give
 * the same. Rounding is to nearest, ties to even; what is beyond the largest number becomes
 * infinite in e5m2 and nan in e4m3fn, which has no infinities. Of e8m0fnu see ir/base/half.h. */
#include <math.h>

#include "codegen/lower/private.h"
#include "ir/base/half.h"

/* e5m2 is the upper half of a float16. The bits of e4m3fn, moved to where float16 has its exponent
 * and fraction, are a number of float16, too, too small by the difference of the biases. */
static LLVMValueRef by_half(Lower *lw, LLVMValueRef v, const HalfFormat *f) {
  enum { HALF_FRACTION = 10, HALF_SIGN = 15 };
  LLVMBuilderRef b = lw->b;
  LLVMTypeRef i16 = lw->t->i16, f32 = lw->t->f32;
  LLVMValueRef bits = l_zext(b, v, i16);
  LLVMValueRef size = l_and(b, bits, lw_int(lw, i16, 0x7f));
  LLVMValueRef sign = l_shl(b, l_lshr(b, bits, lw_int(lw, i16, f->sign)),
                            lw_int(lw, i16, HALF_SIGN));
  LLVMValueRef moved = l_shl(b, size, lw_int(lw, i16, HALF_FRACTION - f->fraction));
  LLVMValueRef wide = l_fpext(b, l_bitcast(b, l_or(b, moved, sign), lw->t->f16), f32);
  if (!f->finite)
    return wide;
  wide = l_fmul(b, wide, LLVMConstReal(f32, ldexp(1, half_float16.bias - f->bias)));
  LLVMValueRef is_nan = l_icmp(b, LLVMIntEQ, size, lw_int(lw, i16, 0x7f));
  return l_select(b, is_nan, LLVMConstReal(f32, NAN), wide);
}

/* Of |v| as a float's bits: normal numbers as lower/half.c rounds a bfloat; those below them by
 * adding a number whose last place is the smallest one, so that the sum's last bits count it. */
static LLVMValueRef by_bits(Lower *lw, LLVMValueRef v, const HalfFormat *f) {
  enum { FRACTION = 23, BIAS = 127 };
  LLVMBuilderRef b = lw->b;
  LLVMTypeRef f32 = lw->t->f32, i32 = lw->t->i32;
  int cut = FRACTION - f->fraction;
  LLVMValueRef size = lw_intrinsic(lw, "llvm.fabs", &f32, 1, &v, 1), bits = l_bitcast(b, size, i32);
  LLVMValueRef odd = l_and(b, l_lshr(b, bits, lw_i32(lw, cut)), lw_i32(lw, 1));
  LLVMValueRef sum = l_add(b, l_add(b, bits, lw_i32(lw, (1 << (cut - 1)) - 1)), odd);
  LLVMValueRef normal = l_sub(b, l_lshr(b, sum, lw_i32(lw, cut)),
                              lw_i32(lw, (BIAS - f->bias) << f->fraction));
  LLVMValueRef unit = LLVMConstReal(f32, ldexp(1, 1 - f->bias - f->fraction + FRACTION));
  LLVMValueRef few = l_sub(b, l_bitcast(b, l_fadd(b, size, unit), i32), l_bitcast(b, unit, i32));
  LLVMValueRef small = l_fcmp(b, LLVMRealOLT, size, LLVMConstReal(f32, ldexp(1, 1 - f->bias)));
  LLVMValueRef sign = l_and(b, l_lshr(b, l_bitcast(b, v, i32), lw_i32(lw, 24)), lw_i32(lw, 0x80));
  return l_trunc(b, l_or(b, l_select(b, small, few, normal), sign), lw->t->i8);
}

/* float8_e8m0fnu is the exponent of a float32; 0 is that of one below the normal numbers. */
static LLVMValueRef power_to_float(Lower *lw, LLVMValueRef v) {
  LLVMBuilderRef b = lw->b;
  LLVMTypeRef i32 = lw->t->i32;
  LLVMValueRef exponent = l_zext(b, v, i32);
  LLVMValueRef bits = l_shl(b, exponent, lw_i32(lw, 23));
  LLVMValueRef least = l_icmp(b, LLVMIntEQ, exponent, lw_i32(lw, 0));
  LLVMValueRef nan = l_icmp(b, LLVMIntEQ, exponent, lw_i32(lw, 255));
  bits = l_select(b, least, lw_i32(lw, 1 << 22), bits);
  return l_bitcast(b, l_select(b, nan, lw_i32(lw, 0x7fc00000), bits), lw->t->f32);
}

/* Half of the fraction is added, so that the exponent is that of the nearest power. Infinity's is
 * that of nan, which also all become that are not above 0. Below the normal numbers it is the next
 * power for all above the smallest one. */
static LLVMValueRef float_to_power(Lower *lw, LLVMValueRef v) {
  LLVMBuilderRef b = lw->b;
  LLVMTypeRef i32 = lw->t->i32;
  LLVMValueRef bits = l_bitcast(b, v, i32);
  LLVMValueRef near = l_lshr(b, l_add(b, bits, lw_i32(lw, 1 << 22)), lw_i32(lw, 23));
  LLVMValueRef next = l_zext(b, l_icmp(b, LLVMIntUGT, bits, lw_i32(lw, 1 << 22)), i32);
  LLVMValueRef small = l_icmp(b, LLVMIntULT, bits, lw_i32(lw, 1 << 23));
  LLVMValueRef power = l_select(b, small, next, near);
  LLVMValueRef above = l_icmp(b, LLVMIntULT, l_sub(b, bits, lw_i32(lw, 1)),
                              lw_i32(lw, 0x7f800000 - 1));
  return l_trunc(b, l_select(b, above, power, lw_i32(lw, 255)), lw->t->i8);
}

LLVMValueRef lw_float8_to_float(Lower *lw, LLVMValueRef v, TypeId id) {
  if (id == TY_E8M0)
    return power_to_float(lw, v);
  LLVMValueRef wide = lw->target->float8_to_float ? lw->target->float8_to_float(lw, v, id) : NULL;
  return wide ? wide : by_half(lw, v, ty_half_format(id));
}

/* What lies beyond the largest number by half of its last place is another value. The bits of
 * e4m3fn's nan are odd and those of its largest number even, so a tie is rounded to the number; in
 * e5m2 it becomes infinite. */
LLVMValueRef lw_to_float8(Lower *lw, LLVMValueRef v, bool is_signed, TypeId id) {
  const HalfFormat *f = ty_half_format(id);
  LLVMBuilderRef b = lw->b;
  LLVMTypeRef i8 = lw->t->i8, i32 = lw->t->i32, f32 = lw->t->f32;
  v = lw_sticky(lw, v, is_signed);
  if (f->powers)
    return float_to_power(lw, v);
  LLVMValueRef near = lw->target->float_to_float8 ? lw->target->float_to_float8(lw, v, id) : NULL;
  if (!near)
    near = by_bits(lw, v, f);
  double max = half_max(f), place = max - half_value(f, half_bits(f, max) - 1);
  LLVMValueRef size = lw_intrinsic(lw, "llvm.fabs", &f32, 1, &v, 1);
  LLVMValueRef tie = LLVMConstReal(f32, max + place / 2);
  LLVMValueRef beyond = l_fcmp(b, f->finite ? LLVMRealUGT : LLVMRealUGE, size, tie);
  LLVMValueRef sign = l_and(b, l_lshr(b, l_bitcast(b, v, i32), lw_i32(lw, 24)), lw_i32(lw, 0x80));
  LLVMValueRef nan = lw_int(lw, i8, half_bits(f, NAN)),
               other = lw_int(lw, i8, half_bits(f, INFINITY));
  other = l_select(b, lw_is_nan(lw, v), nan, other);
  return l_select(b, beyond, l_or(b, other, l_trunc(b, sign, i8)), near);
}
