/* Lanes: division of integers, which no CPU has for vectors, by that of floats. See lanes.h.
 *
 * In: two vectors, and that no divisor is 0 and no quotient overflows (LLVM's division has no
 * result there). Out: the quotient or the remainder, exactly.
 *
 * n / d of at most 32 bits. Where it is not whole, it is at least 1 / d below the next integer,
 * which is 1 / n of itself. The quotient in float64 is off by 2**-53 of itself, so truncated it is
 * the integer's. The same holds of 16 bits in float32, whose rounding is 2**-24.
 *
 * 64 bits, of magnitudes n and d. u is 2**-53. Both become float64 and 1 / d is computed, each
 * rounded by u at most, so the first quotient, truncated to q, is n / d but for 4 * u of it and the
 * truncation. So n - q * d lies between -4 * u * n, which is -8192, and d + 8192: a number of 64
 * bits with a sign. It is divided by d once more, with an error far below 1 this time, which leaves
 * a rest above -d * (1 + 2**-38) and below d * (1 + 2**-38). Where d is so small that the rest can
 * reach -d, it cannot pass it, being an integer; so d is added or subtracted once at most.
 *   That takes AVX-512's conversions and products. Written with AVX2's instructions it took 1.8
 * times as long as the divisions one by one. There, numbers of magnitudes below 2**51 are divided
 * as float64, once: n / d is 1 / d below the next integer m at least, if it is not whole, and m * d
 * is below 2**52, so that is more than the rounding, of 2**-53 of m. A test of all lanes says
 * whether they are; else they are divided one by one.
 *   Magnitudes of signed numbers are 2**63 at most. For unsigned n and d, n / 1 may be rounded to
 * 2**64, which no integer is: it is clamped. d + 8192 may be beyond 2**63: where d is that large, n
 * has it twice at most, and it is subtracted.
 *
 * Minima say where d is added or subtracted: what is below 0 is large as an unsigned number. */
#include "codegen/lanes/private.h"
#include "codegen/llvm/match.h"

typedef struct Vectors {
  Lanes *l;
  LLVMBuilderRef b;
  LLVMTypeRef ints, floats;
} Vectors;

/* --- small parts --- */

static LLVMValueRef splat(const Vectors *v, uint64_t n) {
  return ln_splat(v->l, l_int(LLVMGetElementType(v->ints), n));
}

static LLVMValueRef least(const Vectors *v, const char *name, LLVMTypeRef t, LLVMValueRef x,
                          LLVMValueRef y) {
  return l_call(v->b, cg_intrinsic_fn(v->l->cg, name, &t, 1), (LLVMValueRef[]){x, y}, 2);
}

static LLVMValueRef to_float(const Vectors *v, LLVMValueRef x, bool is_signed) {
  return l_cast(v->b, is_signed ? LLVMSIToFP : LLVMUIToFP, x, v->floats);
}

static LLVMValueRef to_int(const Vectors *v, LLVMValueRef x, bool is_signed) {
  return l_cast(v->b, is_signed ? LLVMFPToSI : LLVMFPToUI, x, v->ints);
}

static LLVMValueRef real(const Vectors *v, double x) {
  return ln_splat(v->l, LLVMConstReal(LLVMGetElementType(v->floats), x));
}

/* --- up to 32 bits --- */

static LLVMValueRef quotient_of_short(const Vectors *v, LLVMValueRef x, LLVMValueRef y,
                                      bool is_signed) {
  LLVMValueRef q = l_fdiv(v->b, to_float(v, x, is_signed), to_float(v, y, is_signed));
  return to_int(v, q, is_signed);
}

/* --- 64 bits --- */

typedef struct Magnitude {
  LLVMValueRef is, sign; /* sign: 0 or -1; NULL of unsigned numbers */
} Magnitude;

/* v with the sign, or without it. */
static LLVMValueRef signed_by(const Vectors *v, LLVMValueRef x, LLVMValueRef sign) {
  return sign ? l_sub(v->b, l_xor(v->b, x, sign), sign) : x;
}

static Magnitude magnitude(const Vectors *v, LLVMValueRef x, bool is_signed) {
  Magnitude m = {.sign = is_signed ? l_ashr(v->b, x, splat(v, 63)) : NULL};
  m.is = signed_by(v, x, m.sign);
  return m;
}

typedef struct Quotient {
  LLVMValueRef quotient, rest;
} Quotient;

/* Where d > 2**63 - 2**14. */
static Quotient by_large(const Vectors *v, LLVMValueRef n, LLVMValueRef d, Quotient of_others) {
  LLVMBuilderRef b = v->b;
  LLVMValueRef large = l_icmp(b, LLVMIntUGT, d, splat(v, (1ull << 63) - (1ull << 14)));
  LLVMValueRef once = least(v, "llvm.umin", v->ints, n, l_sub(b, n, d)),
               twice = least(v, "llvm.umin", v->ints, once, l_sub(b, once, d));
  LLVMValueRef count = l_add(b, l_zext(b, l_icmp(b, LLVMIntUGE, n, d), v->ints),
                             l_zext(b, l_icmp(b, LLVMIntUGE, once, d), v->ints));
  return (Quotient){l_select(b, large, count, of_others.quotient),
                    l_select(b, large, twice, of_others.rest)};
}

static Quotient divide_magnitudes(const Vectors *v, LLVMValueRef n, LLVMValueRef d,
                                  bool is_signed) {
  const double BELOW_2_64 = 0x1.fffffffffffffp63;
  LLVMBuilderRef b = v->b;
  LLVMValueRef inverse = l_fdiv(b, real(v, 1), to_float(v, d, false));
  LLVMValueRef first = l_fmul(b, to_float(v, n, false), inverse);
  if (!is_signed)
    first = least(v, "llvm.minnum", v->floats, first, real(v, BELOW_2_64));
  LLVMValueRef q = to_int(v, first, false), rest = l_sub(b, n, l_mul(b, q, d));
  LLVMValueRef more = to_int(v, l_fmul(b, to_float(v, rest, true), inverse), true);
  q = l_add(b, q, more);
  rest = l_sub(b, rest, l_mul(b, more, d));
  LLVMValueRef below = l_icmp(b, LLVMIntSLT, rest, splat(v, 0));
  q = l_add(b, q, l_sext(b, below, v->ints));
  rest = least(v, "llvm.umin", v->ints, rest, l_add(b, rest, d));
  LLVMValueRef above = l_icmp(b, LLVMIntUGE, rest, d);
  q = l_sub(b, q, l_sext(b, above, v->ints));
  rest = least(v, "llvm.umin", v->ints, rest, l_sub(b, rest, d));
  Quotient found = {q, rest};
  return is_signed ? found : by_large(v, n, d, found);
}

static LLVMValueRef divide_long(const Vectors *v, LLVMValueRef x, LLVMValueRef y, bool is_signed,
                                bool rest) {
  Magnitude n = magnitude(v, x, is_signed), d = magnitude(v, y, is_signed);
  Quotient found = divide_magnitudes(v, n.is, d.is, is_signed);
  if (rest)
    return signed_by(v, found.rest, n.sign);
  return signed_by(v, found.quotient, is_signed ? l_xor(v->b, n.sign, d.sign) : NULL);
}

/* --- 64 bits of which 51 are used, with AVX2 --- */

/* Numbers between -2**51 and 2**51 are the low bits of float64s between 2**52 and 2**53. */
static const double MIDDLE = 0x1.8p52;
static const uint64_t MIDDLE_BITS = 0x4338000000000000;

static LLVMValueRef short_to_float(const Vectors *v, LLVMValueRef x) {
  LLVMValueRef bits = l_add(v->b, x, splat(v, MIDDLE_BITS));
  return l_fsub(v->b, l_bitcast(v->b, bits, v->floats), real(v, MIDDLE));
}

static LLVMValueRef float_to_short(const Vectors *v, LLVMValueRef x) {
  LLVMValueRef moved = l_fadd(v->b, x, real(v, MIDDLE));
  return l_sub(v->b, l_bitcast(v->b, moved, v->ints), splat(v, MIDDLE_BITS));
}

/* Is it so short in all lanes? */
static LLVMValueRef are_short(const Vectors *v, LLVMValueRef x, LLVMValueRef y, bool is_signed) {
  const uint64_t LIMIT = 1ull << 51;
  if (is_signed)
    x = l_add(v->b, x, splat(v, LIMIT)), y = l_add(v->b, y, splat(v, LIMIT));
  LLVMValueRef fn = cg_intrinsic_fn(v->l->cg, "llvm.vector.reduce.or", &v->ints, 1),
               both = l_or(v->b, x, y), all = l_call(v->b, fn, &both, 1);
  return l_icmp(v->b, LLVMIntULT, all, l_int(LLVMTypeOf(all), is_signed ? 2 * LIMIT : LIMIT));
}

static Quotient divide_short(const Vectors *v, LLVMValueRef x, LLVMValueRef y) {
  LLVMValueRef n = short_to_float(v, x), d = short_to_float(v, y),
               fn = cg_intrinsic_fn(v->l->cg, "llvm.trunc", &v->floats, 1),
               exact = l_fdiv(v->b, n, d), q = l_call(v->b, fn, &exact, 1);
  return (Quotient){float_to_short(v, q), float_to_short(v, l_fsub(v->b, n, l_fmul(v->b, q, d)))};
}

static LLVMValueRef divide_short_or_all(const Vectors *v, LLVMValueRef x, LLVMValueRef y,
                                        bool is_signed, bool rest) {
  Lanes *l = v->l;
  if (l->mask_now) /* what rests may be anything */
    x = l_select(v->b, l->mask_now, x, splat(v, 0));
  x = l_freeze(v->b, x);
  LLVMBasicBlockRef blocks[] = {ln_new_block(l, "short"), ln_new_block(l, "long")},
                    done = ln_new_block(l, "divided");
  LLVMValueRef end = l_condbr(v->b, are_short(v, x, y, is_signed), blocks[0], blocks[1]), of[2];
  cg_branch_weights(l->cg, end, CG_OFTEN, 1);
  LLVMPositionBuilderAtEnd(v->b, blocks[0]);
  Quotient found = divide_short(v, x, y);
  of[0] = rest ? found.rest : found.quotient;
  l_br(v->b, done);
  LLVMPositionBuilderAtEnd(v->b, blocks[1]);
  of[1] = l_binop(v->b,
                  rest        ? is_signed ? LLVMSRem : LLVMURem
                  : is_signed ? LLVMSDiv
                              : LLVMUDiv,
                  x, y);
  l_br(v->b, done);
  LLVMPositionBuilderAtEnd(v->b, done);
  LLVMValueRef phi = l_phi(v->b, v->ints);
  LLVMAddIncoming(phi, of, blocks, 2);
  return phi;
}

/* --- which --- */

/* AVX2's division is one of these; NEON has two lanes of 64 bits in a register. */
static bool divides_short(const Lanes *l) {
  enum { AVX2 = 8 };
  return cg_lanes_part(l->cg) == AVX2;
}

/* Constants of 32 bits are products in LLVM's code generator; of 64 bits powers of two are shifts.
 */
bool ln_divides(const Lanes *l, LLVMValueRef division) {
  LLVMValueRef by = LLVMGetOperand(division, 1);
  unsigned bits = cg_int_width(division);
  if (bits != 64)
    return (bits == 16 || bits == 32) && !LLVMIsAConstantInt(by);
  uint64_t n = LLVMIsAConstantInt(by) ? LLVMConstIntGetZExtValue(by) : 3, size = n >> 63 ? -n : n;
  return (size & (size - 1)) && (ln_has_masks(l) || divides_short(l));
}

LLVMValueRef ln_divide(Lanes *l, LLVMValueRef division, LLVMValueRef x, LLVMValueRef y) {
  LLVMOpcode op = LLVMGetInstructionOpcode(division);
  bool is_signed = op == LLVMSDiv || op == LLVMSRem, rest = op == LLVMURem || op == LLVMSRem;
  unsigned bits = LLVMGetIntTypeWidth(LLVMTypeOf(division));
  LLVMTypeRef t = bits > 16 ? l->cg->t.f64 : l->cg->t.f32;
  Vectors v = {.l = l, .b = l->b, .ints = LLVMTypeOf(x), .floats = LLVMVectorType(t, l->width)};
  if (bits == 64 && divides_short(l))
    return divide_short_or_all(&v, x, y, is_signed, rest);
  if (bits == 64)
    return divide_long(&v, x, y, is_signed, rest);
  LLVMValueRef q = quotient_of_short(&v, x, y, is_signed);
  return rest ? l_sub(l->b, x, l_mul(l->b, q, y)) : q;
}
