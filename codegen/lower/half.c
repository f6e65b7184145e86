/* 16-bit floats: float16 and bfloat16.
 *
 * LLVM computes with half on both targets and with bfloat on GPUs, by one operation in float that
 * is rounded afterwards, or by an instruction that gives the same. On CPUs it would use bfloat16
 * instructions that flush subnormals; so where Target.bfloat_by_bits says so, LLVM only moves
 * bfloats: lw_ready converts one to float and lw_fit rounds the result, both by integer operations.
 *
 * A sum, difference, product, quotient or root of two 16-bit floats that is computed in float and
 * then rounded is correctly rounded, since float has at least 2p + 2 bits. Conversions of doubles
 * and integers to bfloat16 go through a float that is rounded to odd (sticky_), so that they round
 * once. */
#include <assert.h>
#include <math.h>

#include "codegen/lower/private.h"

bool lw_is_narrow(const Lower *lw, LLVMTypeRef t) { return t == lw->t->f16 || t == lw->t->bf16; }

static bool by_bits(const Lower *lw, LLVMTypeRef t) {
  return t == lw->t->bf16 && lw->target->bfloat_by_bits;
}

/* Not the plain extension of a bfloat: in an operation with an extended half LLVM 22 assumes that
 * half can hold both operands, since its fraction is longer, and narrows the operation. GPUs extend
 * by the bits (lw_widen). On x86 LLVM 22 takes the sign bit of a bfloat for 0 (`icmp slt i16
 * (bitcast bfloat), 0`), so the plain extension's bits are masked instead, which does not change
 * them but hides the extension. */
static LLVMValueRef extended_bfloat(Lower *lw, LLVMValueRef v) {
  LLVMBuilderRef b = lw->b;
  LLVMValueRef bits = l_bitcast(b, l_fpext(b, v, lw->t->f32), lw->t->i32);
  bits = l_and(b, bits, l_int(lw->t->i32, 0xffff0000u));
  return l_bitcast(b, bits, lw->t->f32);
}

LLVMValueRef lw_widen(Lower *lw, LLVMValueRef v) {
  LLVMTypeRef t = LLVMTypeOf(v), i32 = lw->t->i32;
  if (t == lw->t->f16)
    return l_fpext(lw->b, v, lw->t->f32);
  if (t != lw->t->bf16)
    return v;
  if (lw->target->bfloat_by_bits)
    return extended_bfloat(lw, v);
  LLVMValueRef bits = l_zext(lw->b, l_bitcast(lw->b, v, lw->t->i16), i32);
  return l_bitcast(lw->b, l_shl(lw->b, bits, lw_i32(lw, 16)), lw->t->f32);
}

LLVMValueRef lw_ready(Lower *lw, LLVMValueRef v) {
  return by_bits(lw, LLVMTypeOf(v)) ? lw_widen(lw, v) : v;
}

/* To nearest, ties to even: adding 0x7fff, and 1 more if the upper half is odd, carries into the
 * upper half exactly where it must be rounded up. A nan stays nan and keeps its sign. */
static LLVMValueRef bfloat_of_float(Lower *lw, LLVMValueRef v) {
  LLVMBuilderRef b = lw->b;
  LLVMValueRef bits = l_bitcast(b, v, lw->t->i32), sixteen = lw_i32(lw, 16);
  LLVMValueRef upper = l_lshr(b, bits, sixteen);
  LLVMValueRef odd = l_and(b, upper, lw_i32(lw, 1));
  LLVMValueRef sum = l_add(b, l_add(b, bits, lw_i32(lw, 0x7fff)), odd);
  LLVMValueRef rounded = l_select(b, lw_is_nan(lw, v), l_or(b, upper, lw_i32(lw, 0x40)),
                                  l_lshr(b, sum, sixteen));
  return l_bitcast(b, l_trunc(b, rounded, lw->t->i16), lw->t->bf16);
}

LLVMValueRef lw_fit(Lower *lw, LLVMValueRef v, LLVMTypeRef t) {
  if (LLVMTypeOf(v) == t)
    return v;
  assert(lw_is_narrow(lw, t) && LLVMTypeOf(v) == lw->t->f32); /* lw_widen's counterpart */
  return by_bits(lw, t) ? bfloat_of_float(lw, v) : l_fptrunc(lw->b, v, t);
}

/* A double rounded to odd as a float: where it is inexact, the odd one of its two neighbours. A
 * later rounding to 16 bits then gives what the double itself would round to. */
static LLVMValueRef sticky_float(Lower *lw, LLVMValueRef v) {
  LLVMBuilderRef b = lw->b;
  LLVMTypeRef f32 = lw->t->f32, f64 = lw->t->f64, i32 = lw->t->i32;
  LLVMValueRef near = l_fptrunc(b, v, f32), back = l_fpext(b, near, f64);
  LLVMValueRef size = lw_intrinsic(lw, "llvm.fabs", &f64, 1, &v, 1),
               back_size = lw_intrinsic(lw, "llvm.fabs", &f64, 1, &back, 1);
  LLVMValueRef inexact = l_fcmp(b, LLVMRealONE, v, back),
               above = l_fcmp(b, LLVMRealOGT, back_size, size);
  LLVMValueRef bits = l_bitcast(b, near, i32);
  LLVMValueRef down = l_sub(b, bits, l_zext(b, above, i32));
  LLVMValueRef odd = l_or(b, down, lw_i32(lw, 1));
  return l_bitcast(b, l_select(b, inexact, odd, bits), f32);
}

/* An integer rounded to odd as a float: the upper 24 bits of its magnitude, the last of them set if
 * any bit below is, times a power of two. */
static LLVMValueRef sticky_int(Lower *lw, LLVMValueRef v, bool is_signed) {
  LLVMBuilderRef b = lw->b;
  LLVMTypeRef t = LLVMTypeOf(v), f32 = lw->t->f32, i32 = lw->t->i32;
  unsigned width = LLVMGetIntTypeWidth(t), kept = 24;
  if (width <= kept)
    return is_signed ? l_sitofp(b, v, f32) : l_uitofp(b, v, f32);
  LLVMValueRef no = LLVMConstNull(lw->t->i1), size = v;
  if (is_signed)
    size = lw_intrinsic(lw, "llvm.abs", &t, 1, (LLVMValueRef[]){v, no}, 2);
  LLVMValueRef zeros = lw_intrinsic(lw, "llvm.ctlz", &t, 1, (LLVMValueRef[]){size, no}, 2);
  LLVMValueRef most = lw_int(lw, t, width - kept); /* bits in front of the last 24 */
  LLVMValueRef few = lw_intrinsic(lw, "llvm.umin", &t, 1, (LLVMValueRef[]){zeros, most}, 2);
  LLVMValueRef shift = l_sub(b, most, few);
  LLVMValueRef head = l_lshr(b, size, shift);
  LLVMValueRef lost = l_icmp(b, LLVMIntNE, l_shl(b, head, shift), size);
  head = l_or(b, head, l_zext(b, lost, t));
  LLVMValueRef scale = l_add(b, l_int_cast(b, shift, i32, 0), lw_i32(lw, 127));
  scale = l_bitcast(b, l_shl(b, scale, lw_i32(lw, 23)), f32);
  LLVMValueRef small = l_int_cast(b, head, i32, 0);
  LLVMValueRef r = l_fmul(b, l_uitofp(b, small, f32), scale);
  if (!is_signed)
    return r;
  LLVMValueRef negative = l_icmp(b, LLVMIntSLT, v, LLVMConstNull(t));
  return l_select(b, negative, l_fneg(b, r), r);
}

/* LLVM 22 assumes that an integer of few significant bits is exact in half, however large it is,
 * and drops a conversion to half that is extended again: -(2**63) would not become infinite. So
 * integers that round to infinity are selected explicitly. */
LLVMValueRef lw_int_to_half(Lower *lw, LLVMValueRef v, bool is_signed) {
  enum { FIRST_INFINITE = 65520 };
  LLVMBuilderRef b = lw->b;
  LLVMTypeRef t = LLVMTypeOf(v), f16 = lw->t->f16;
  unsigned width = LLVMGetIntTypeWidth(t);
  if (width <= 16)
    return is_signed ? l_sitofp(b, v, f16) : l_uitofp(b, v, f16);
  LLVMValueRef infinite = LLVMConstReal(f16, INFINITY), size = v;
  if (is_signed) {
    LLVMValueRef no = LLVMConstNull(lw->t->i1);
    LLVMValueRef negative = l_icmp(b, LLVMIntSLT, v, LLVMConstNull(t));
    infinite = l_select(b, negative, LLVMConstReal(f16, -INFINITY), infinite);
    size = lw_intrinsic(lw, "llvm.abs", &t, 1, (LLVMValueRef[]){v, no}, 2);
  }
  LLVMValueRef large = l_icmp(b, LLVMIntUGE, size, lw_int(lw, t, FIRST_INFINITE));
  LLVMValueRef small = l_int_cast(b, v, lw->t->i32, 0);
  return l_select(b, large, infinite, l_sitofp(b, small, f16));
}

LLVMValueRef lw_sticky(Lower *lw, LLVMValueRef v, bool is_signed) {
  LLVMTypeRef t = LLVMTypeOf(v);
  if (LLVMGetTypeKind(t) == LLVMIntegerTypeKind)
    return sticky_int(lw, v, is_signed);
  return t == lw->t->f64 ? sticky_float(lw, v) : lw_widen(lw, v);
}

LLVMValueRef lw_to_bfloat(Lower *lw, LLVMValueRef v, bool is_signed) {
  return lw_fit(lw, lw_sticky(lw, v, is_signed), lw->t->bf16);
}

/* A sum rounded to odd, so that a second rounding, to at most 51 bits, gives the correctly rounded
 * sum. The error of the sum is exact (Knuth's two-sum). */
static LLVMValueRef sticky_sum(Lower *lw, LLVMValueRef x, LLVMValueRef y) {
  LLVMBuilderRef b = lw->b;
  LLVMTypeRef f64 = lw->t->f64, i64 = lw->t->i64;
  LLVMValueRef sum = l_fadd(b, x, y), of_y = l_fsub(b, sum, x);
  LLVMValueRef of_x = l_fsub(b, sum, of_y);
  LLVMValueRef error = l_fadd(b, l_fsub(b, x, of_x), l_fsub(b, y, of_y));
  LLVMValueRef zero = LLVMConstNull(f64);
  LLVMValueRef inexact = l_fcmp(b, LLVMRealONE, error, zero);
  LLVMValueRef down = l_xor(b, l_fcmp(b, LLVMRealOLT, error, zero),
                            l_fcmp(b, LLVMRealOLT, sum, zero));
  LLVMValueRef bits = l_bitcast(b, sum, i64);
  LLVMValueRef moved = l_sub(b, bits, l_zext(b, down, i64));
  LLVMValueRef odd = l_or(b, moved, lw_i64(lw, 1));
  return l_bitcast(b, l_select(b, inexact, odd, bits), f64);
}

/* x * y + z with one rounding. LLVM would round to float in between; in double the product is
 * exact, and the sum is rounded to odd. */
static LLVMValueRef half_fma(Lower *lw, LLVMValueRef const *xyz) {
  LLVMTypeRef f64 = lw->t->f64, f16 = lw->t->f16;
  LLVMValueRef wide[3];
  for (int k = 0; k < 3; k++)
    wide[k] = l_fpext(lw->b, xyz[k], f64);
  return l_fptrunc(lw->b, sticky_sum(lw, l_fmul(lw->b, wide[0], wide[1]), wide[2]), f16);
}

/* The 16 bits of x; w is x as a float. */
static LLVMValueRef bits_of(Lower *lw, LLVMValueRef x, LLVMValueRef w) {
  LLVMBuilderRef b = lw->b;
  if (!by_bits(lw, LLVMTypeOf(x)))
    return l_bitcast(b, x, lw->t->i16);
  LLVMValueRef upper = l_lshr(b, l_bitcast(b, w, lw->t->i32), lw_i32(lw, 16));
  return l_trunc(b, upper, lw->t->i16);
}

/* The next value after x towards y; y where they are equal, also if they are zeros of different
 * sign, as in C, and in NumPy since 2.5. */
LLVMValueRef lw_half_nextafter(Lower *lw, LLVMValueRef x, LLVMValueRef y) {
  LLVMBuilderRef b = lw->b;
  LLVMTypeRef t = LLVMTypeOf(x), i16 = lw->t->i16;
  LLVMValueRef wx = lw_widen(lw, x), wy = lw_widen(lw, y), zero = LLVMConstNull(lw->t->f32);
  LLVMValueRef bits = bits_of(lw, x, wx), one = lw_int(lw, i16, 1);
  LLVMValueRef out = l_xor(b, l_fcmp(b, LLVMRealOGT, wy, wx), l_fcmp(b, LLVMRealOLT, wx, zero));
  LLVMValueRef next = l_select(b, out, l_add(b, bits, one), l_sub(b, bits, one));
  LLVMValueRef sign = l_and(b, bits_of(lw, y, wy), lw_int(lw, i16, -0x8000));
  next = l_select(b, l_fcmp(b, LLVMRealOEQ, wx, zero), l_or(b, sign, one), next);
  next = l_select(b, l_fcmp(b, LLVMRealOEQ, wx, wy), bits_of(lw, y, wy), next);
  LLVMValueRef nan = l_fcmp(b, LLVMRealUNO, wx, wy);
  LLVMValueRef sum = l_bitcast(b, lw_fit(lw, l_fadd(b, wx, wy), t), i16);
  return l_bitcast(b, l_select(b, nan, sum, next), t);
}

void cg_intrinsic_FP16_HFMA(Lower *lw, Ins *i) {
  LLVMValueRef xyz[3];
  for (uint32_t k = 0; k < 3; k++)
    xyz[k] = lw_value(lw, i->args[k]);
  lw_set(lw, i, half_fma(lw, xyz));
}
