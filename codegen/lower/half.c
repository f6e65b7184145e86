/* Numbers of 16 bits: float16 and bfloat16.
 *
 * LLVM computes with half on both targets, and with bfloat on GPUs: one operation in float, rounded, or the instruction that gives
 * the same. CPUs' bfloat16 instructions flush subnormals, and LLVM uses them; where Target.bfloat_by_bits says so, bfloat is only
 * moved: lw_ready makes a float of it and lw_fit rounds the float, both by integer operations. Conversions to bfloat16 round once. */
#include <math.h>

#include "codegen/lower/private.h"

bool lw_is_narrow(const Lower *lw, LLVMTypeRef t) { return t == lw->t->f16 || t == lw->t->bf16; }

static bool by_bits(const Lower *lw, LLVMTypeRef t) {
  return t == lw->t->bf16 && lw->target->bfloat_by_bits;
}

/* Never a plain extension of a bfloat: beside an extended half LLVM 22 believes that a half can hold both, since its fraction is
 * longer, and narrows what is computed with them. GPUs: by its bits. x86: LLVM 22 takes the sign of a bfloat's bits for 0 (`icmp slt
 * i16 (bitcast bfloat), 0`), so they are those of the extension, masked, which changes nothing. */
static LLVMValueRef extended_bfloat(Lower *lw, LLVMValueRef v) {
  LLVMBuilderRef b = lw->b;
  LLVMValueRef bits = LLVMBuildBitCast(b, LLVMBuildFPExt(b, v, lw->t->f32, ""), lw->t->i32, "");
  bits = LLVMBuildAnd(b, bits, LLVMConstInt(lw->t->i32, 0xffff0000u, 0), "");
  return LLVMBuildBitCast(b, bits, lw->t->f32, "");
}

LLVMValueRef lw_widen(Lower *lw, LLVMValueRef v) {
  LLVMTypeRef t = LLVMTypeOf(v), i32 = lw->t->i32;
  if (t == lw->t->f16)
    return LLVMBuildFPExt(lw->b, v, lw->t->f32, "");
  if (t != lw->t->bf16)
    return v;
  if (lw->target->bfloat_by_bits)
    return extended_bfloat(lw, v);
  LLVMValueRef bits = LLVMBuildZExt(lw->b, LLVMBuildBitCast(lw->b, v, lw->t->i16, ""), i32, "");
  return LLVMBuildBitCast(lw->b, LLVMBuildShl(lw->b, bits, lw_i32(lw, 16), ""), lw->t->f32, "");
}

LLVMValueRef lw_ready(Lower *lw, LLVMValueRef v) {
  return by_bits(lw, LLVMTypeOf(v)) ? lw_widen(lw, v) : v;
}

/* Adding 0x7fff, and 1 more to an odd upper half, carries into it where it must be rounded up. A nan keeps its sign and stays one. */
static LLVMValueRef bfloat_of_float(Lower *lw, LLVMValueRef v) {
  LLVMBuilderRef b = lw->b;
  LLVMValueRef bits = LLVMBuildBitCast(b, v, lw->t->i32, ""), sixteen = lw_i32(lw, 16);
  LLVMValueRef upper = LLVMBuildLShr(b, bits, sixteen, "");
  LLVMValueRef odd = LLVMBuildAnd(b, upper, lw_i32(lw, 1), "");
  LLVMValueRef sum = LLVMBuildAdd(b, LLVMBuildAdd(b, bits, lw_i32(lw, 0x7fff), ""), odd, "");
  LLVMValueRef rounded = LLVMBuildSelect(b, lw_is_nan(lw, v),
                                         LLVMBuildOr(b, upper, lw_i32(lw, 0x40), ""),
                                         LLVMBuildLShr(b, sum, sixteen, ""), "");
  return LLVMBuildBitCast(b, LLVMBuildTrunc(b, rounded, lw->t->i16, ""), lw->t->bf16, "");
}

LLVMValueRef lw_fit(Lower *lw, LLVMValueRef v, LLVMTypeRef t) {
  if (LLVMTypeOf(v) == t)
    return v;
  return by_bits(lw, t) ? bfloat_of_float(lw, v) : LLVMBuildFPTrunc(lw->b, v, t, "");
}

/* A double as a float that rounds to what the double rounds to: where it is inexact, the one of its two neighbours that is odd. */
static LLVMValueRef sticky_float(Lower *lw, LLVMValueRef v) {
  LLVMBuilderRef b = lw->b;
  LLVMTypeRef f32 = lw->t->f32, f64 = lw->t->f64, i32 = lw->t->i32;
  LLVMValueRef near = LLVMBuildFPTrunc(b, v, f32, ""), back = LLVMBuildFPExt(b, near, f64, "");
  LLVMValueRef size = lw_intrinsic(lw, "llvm.fabs", &f64, 1, &v, 1),
               back_size = lw_intrinsic(lw, "llvm.fabs", &f64, 1, &back, 1);
  LLVMValueRef inexact = LLVMBuildFCmp(b, LLVMRealONE, v, back, ""),
               above = LLVMBuildFCmp(b, LLVMRealOGT, back_size, size, "");
  LLVMValueRef bits = LLVMBuildBitCast(b, near, i32, "");
  LLVMValueRef down = LLVMBuildSub(b, bits, LLVMBuildZExt(b, above, i32, ""), "");
  LLVMValueRef odd = LLVMBuildOr(b, down, lw_i32(lw, 1), "");
  return LLVMBuildBitCast(b, LLVMBuildSelect(b, inexact, odd, bits, ""), f32, "");
}

/* An integer as such a float: 24 bits of its size, the last one set if any below is, times a power of two. */
static LLVMValueRef sticky_int(Lower *lw, LLVMValueRef v, bool is_signed) {
  LLVMBuilderRef b = lw->b;
  LLVMTypeRef t = LLVMTypeOf(v), f32 = lw->t->f32, i32 = lw->t->i32;
  unsigned width = LLVMGetIntTypeWidth(t), kept = 24;
  if (width <= kept)
    return is_signed ? LLVMBuildSIToFP(b, v, f32, "") : LLVMBuildUIToFP(b, v, f32, "");
  LLVMValueRef no = LLVMConstNull(lw->t->i1), size = v;
  if (is_signed)
    size = lw_intrinsic(lw, "llvm.abs", &t, 1, (LLVMValueRef[]){v, no}, 2);
  LLVMValueRef zeros = lw_intrinsic(lw, "llvm.ctlz", &t, 1, (LLVMValueRef[]){size, no}, 2);
  LLVMValueRef most = lw_int(lw, t, width - kept); /* bits in front of the last 24 */
  LLVMValueRef few = lw_intrinsic(lw, "llvm.umin", &t, 1, (LLVMValueRef[]){zeros, most}, 2);
  LLVMValueRef shift = LLVMBuildSub(b, most, few, "");
  LLVMValueRef head = LLVMBuildLShr(b, size, shift, "");
  LLVMValueRef lost = LLVMBuildICmp(b, LLVMIntNE, LLVMBuildShl(b, head, shift, ""), size, "");
  head = LLVMBuildOr(b, head, LLVMBuildZExt(b, lost, t, ""), "");
  LLVMValueRef scale = LLVMBuildAdd(b, LLVMBuildIntCast2(b, shift, i32, 0, ""), lw_i32(lw, 127),
                                    "");
  scale = LLVMBuildBitCast(b, LLVMBuildShl(b, scale, lw_i32(lw, 23), ""), f32, "");
  LLVMValueRef small = LLVMBuildIntCast2(b, head, i32, 0, "");
  LLVMValueRef r = LLVMBuildFMul(b, LLVMBuildUIToFP(b, small, f32, ""), scale, "");
  if (!is_signed)
    return r;
  LLVMValueRef negative = LLVMBuildICmp(b, LLVMIntSLT, v, LLVMConstNull(t), "");
  return LLVMBuildSelect(b, negative, LLVMBuildFNeg(b, r, ""), r, "");
}

/* LLVM 22 takes an integer of few significant bits for exact in a half however large it is, and leaves the half out where it is
 * extended again: -(2**63) would not be infinite. So what rounds to infinity is told apart first. */
LLVMValueRef lw_int_to_half(Lower *lw, LLVMValueRef v, bool is_signed) {
  enum { FIRST_INFINITE = 65520 };
  LLVMBuilderRef b = lw->b;
  LLVMTypeRef t = LLVMTypeOf(v), f16 = lw->t->f16;
  unsigned width = LLVMGetIntTypeWidth(t);
  if (width <= 16)
    return is_signed ? LLVMBuildSIToFP(b, v, f16, "") : LLVMBuildUIToFP(b, v, f16, "");
  LLVMValueRef infinite = LLVMConstReal(f16, INFINITY), size = v;
  if (is_signed) {
    LLVMValueRef no = LLVMConstNull(lw->t->i1);
    LLVMValueRef negative = LLVMBuildICmp(b, LLVMIntSLT, v, LLVMConstNull(t), "");
    infinite = LLVMBuildSelect(b, negative, LLVMConstReal(f16, -INFINITY), infinite, "");
    size = lw_intrinsic(lw, "llvm.abs", &t, 1, (LLVMValueRef[]){v, no}, 2);
  }
  LLVMValueRef large = LLVMBuildICmp(b, LLVMIntUGE, size, lw_int(lw, t, FIRST_INFINITE), "");
  LLVMValueRef small = LLVMBuildIntCast2(b, v, lw->t->i32, 0, "");
  return LLVMBuildSelect(b, large, infinite, LLVMBuildSIToFP(b, small, f16, ""), "");
}

LLVMValueRef lw_to_bfloat(Lower *lw, LLVMValueRef v, bool is_signed) {
  LLVMTypeRef t = LLVMTypeOf(v);
  if (LLVMGetTypeKind(t) == LLVMIntegerTypeKind)
    v = sticky_int(lw, v, is_signed);
  else
    v = t == lw->t->f64 ? sticky_float(lw, v) : lw_widen(lw, v);
  return lw_fit(lw, v, lw->t->bf16);
}

/* A sum rounded to odd, which a second rounding to at most 51 bits leaves right. The error of the sum is exact (Knuth's two-sum). */
static LLVMValueRef sticky_sum(Lower *lw, LLVMValueRef x, LLVMValueRef y) {
  LLVMBuilderRef b = lw->b;
  LLVMTypeRef f64 = lw->t->f64, i64 = lw->t->i64;
  LLVMValueRef sum = LLVMBuildFAdd(b, x, y, ""), of_y = LLVMBuildFSub(b, sum, x, "");
  LLVMValueRef of_x = LLVMBuildFSub(b, sum, of_y, "");
  LLVMValueRef error = LLVMBuildFAdd(b, LLVMBuildFSub(b, x, of_x, ""),
                                     LLVMBuildFSub(b, y, of_y, ""), "");
  LLVMValueRef zero = LLVMConstNull(f64);
  LLVMValueRef inexact = LLVMBuildFCmp(b, LLVMRealONE, error, zero, "");
  LLVMValueRef down = LLVMBuildXor(b, LLVMBuildFCmp(b, LLVMRealOLT, error, zero, ""),
                                   LLVMBuildFCmp(b, LLVMRealOLT, sum, zero, ""), "");
  LLVMValueRef bits = LLVMBuildBitCast(b, sum, i64, "");
  LLVMValueRef moved = LLVMBuildSub(b, bits, LLVMBuildZExt(b, down, i64, ""), "");
  LLVMValueRef odd = LLVMBuildOr(b, moved, lw_i64(lw, 1), "");
  return LLVMBuildBitCast(b, LLVMBuildSelect(b, inexact, odd, bits, ""), f64, "");
}

/* x * y + z with one rounding, where LLVM would round to float in between: the product of two is exact in double. */
static LLVMValueRef half_fma(Lower *lw, LLVMValueRef const *xyz) {
  LLVMTypeRef f64 = lw->t->f64, f16 = lw->t->f16;
  LLVMValueRef wide[3];
  for (int k = 0; k < 3; k++)
    wide[k] = LLVMBuildFPExt(lw->b, xyz[k], f64, "");
  return LLVMBuildFPTrunc(
      lw->b, sticky_sum(lw, LLVMBuildFMul(lw->b, wide[0], wide[1], ""), wide[2]), f16, "");
}

/* The 16 bits of x, which is w as a float. */
static LLVMValueRef bits_of(Lower *lw, LLVMValueRef x, LLVMValueRef w) {
  LLVMBuilderRef b = lw->b;
  if (!by_bits(lw, LLVMTypeOf(x)))
    return LLVMBuildBitCast(b, x, lw->t->i16, "");
  LLVMValueRef upper = LLVMBuildLShr(b, LLVMBuildBitCast(b, w, lw->t->i32, ""), lw_i32(lw, 16), "");
  return LLVMBuildTrunc(b, upper, lw->t->i16, "");
}

/* The next value after x towards y: y where they are equal, signed zeros too, as C has it, and NumPy since 2.5. */
LLVMValueRef lw_half_nextafter(Lower *lw, LLVMValueRef x, LLVMValueRef y) {
  LLVMBuilderRef b = lw->b;
  LLVMTypeRef t = LLVMTypeOf(x), i16 = lw->t->i16;
  LLVMValueRef wx = lw_widen(lw, x), wy = lw_widen(lw, y), zero = LLVMConstNull(lw->t->f32);
  LLVMValueRef bits = bits_of(lw, x, wx), one = lw_int(lw, i16, 1);
  LLVMValueRef out = LLVMBuildXor(b, LLVMBuildFCmp(b, LLVMRealOGT, wy, wx, ""),
                                  LLVMBuildFCmp(b, LLVMRealOLT, wx, zero, ""), "");
  LLVMValueRef next = LLVMBuildSelect(b, out, LLVMBuildAdd(b, bits, one, ""),
                                      LLVMBuildSub(b, bits, one, ""), "");
  LLVMValueRef sign = LLVMBuildAnd(b, bits_of(lw, y, wy), lw_int(lw, i16, -0x8000), "");
  next = LLVMBuildSelect(b, LLVMBuildFCmp(b, LLVMRealOEQ, wx, zero, ""),
                         LLVMBuildOr(b, sign, one, ""), next, "");
  next = LLVMBuildSelect(b, LLVMBuildFCmp(b, LLVMRealOEQ, wx, wy, ""), bits_of(lw, y, wy), next,
                         "");
  LLVMValueRef nan = LLVMBuildFCmp(b, LLVMRealUNO, wx, wy, "");
  LLVMValueRef sum = LLVMBuildBitCast(b, lw_fit(lw, LLVMBuildFAdd(b, wx, wy, ""), t), i16, "");
  return LLVMBuildBitCast(b, LLVMBuildSelect(b, nan, sum, next, ""), t, "");
}

void cg_intrinsic_FP16_HFMA(Lower *lw, Ins *i) {
  LLVMValueRef xyz[3];
  for (uint32_t k = 0; k < 3; k++)
    xyz[k] = lw_value(lw, i->args[k]);
  lw_set(lw, i, half_fma(lw, xyz));
}
