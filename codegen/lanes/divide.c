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
 * Minima say where d is added or subtracted: what is below 0 is large as an unsigned number.
 *
 * Where n counts from lane to lane and d is one number (`k // width`), the CPU divides once, lane
 * 0's, if d is more than what n rises by: the rests of the others are lane 0's and that rise, less
 * d in those that reach it, whose quotients are one more. A test asks for that, and that nothing is
 * negative. */
#include "codegen/lanes/private.h"
#include "codegen/llvm/match.h"

typedef struct Vectors {
  Lanes *l;
  LLVMBuilderRef b;
  LLVMTypeRef ints, floats;
  bool quotient, rest; /* what is asked for */
} Vectors;

typedef struct Quotient { /* anything but what is asked for may be NULL */
  LLVMValueRef quotient, rest;
} Quotient;

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

/* --- one of two ways, by a test that mostly holds --- */

typedef struct TwoWays {
  LLVMBasicBlockRef usual, other, done; /* the first two, once written: their ends */
} TwoWays;

/* Leaves the builder in the usual one; other_way leaves it in the other one. */
static TwoWays begin_ways(const Vectors *v, LLVMValueRef test, const char *usual,
                          const char *other) {
  Lanes *l = v->l;
  TwoWays w = {ln_new_block(l, usual), ln_new_block(l, other), ln_new_block(l, "divided")};
  cg_branch_weights(l->cg, l_condbr(v->b, test, w.usual, w.other), CG_OFTEN, 1);
  LLVMPositionBuilderAtEnd(v->b, w.usual);
  return w;
}

static void other_way(const Vectors *v, TwoWays *w) {
  LLVMBasicBlockRef begin = w->other;
  w->usual = LLVMGetInsertBlock(v->b);
  l_br(v->b, w->done);
  LLVMPositionBuilderAtEnd(v->b, begin);
}

static LLVMValueRef one_of(const Vectors *v, const TwoWays *w, LLVMValueRef usual,
                           LLVMValueRef other) {
  LLVMValueRef phi = l_phi(v->b, v->ints), of[] = {usual, other};
  LLVMBasicBlockRef from[] = {w->usual, w->other};
  LLVMAddIncoming(phi, of, from, 2);
  return phi;
}

static Quotient end_ways(const Vectors *v, TwoWays *w, Quotient usual, Quotient other) {
  w->other = LLVMGetInsertBlock(v->b);
  l_br(v->b, w->done);
  LLVMPositionBuilderAtEnd(v->b, w->done);
  return (Quotient){v->quotient ? one_of(v, w, usual.quotient, other.quotient) : NULL,
                    v->rest ? one_of(v, w, usual.rest, other.rest) : NULL};
}

/* --- up to 32 bits --- */

static Quotient divide_few_bits(const Vectors *v, LLVMValueRef x, LLVMValueRef y, bool is_signed) {
  LLVMValueRef all = l_fdiv(v->b, to_float(v, x, is_signed), to_float(v, y, is_signed)),
               q = to_int(v, all, is_signed);
  return (Quotient){q, v->rest ? l_sub(v->b, x, l_mul(v->b, q, y)) : NULL};
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

static Quotient divide_long(const Vectors *v, LLVMValueRef x, LLVMValueRef y, bool is_signed) {
  Magnitude n = magnitude(v, x, is_signed), d = magnitude(v, y, is_signed);
  Quotient found = divide_magnitudes(v, n.is, d.is, is_signed);
  if (v->rest)
    found.rest = signed_by(v, found.rest, n.sign);
  if (v->quotient)
    found.quotient = signed_by(v, found.quotient, is_signed ? l_xor(v->b, n.sign, d.sign) : NULL);
  return found;
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

static Quotient divide_short_or_all(const Vectors *v, LLVMValueRef x, LLVMValueRef y,
                                    bool is_signed) {
  Lanes *l = v->l;
  if (l->mask_now) /* what rests may be anything */
    x = l_select(v->b, l->mask_now, x, splat(v, 0));
  x = l_freeze(v->b, x);
  TwoWays w = begin_ways(v, are_short(v, x, y, is_signed), "short", "long");
  Quotient usual = divide_short(v, x, y);
  other_way(v, &w);
  Quotient all = {v->quotient ? l_binop(v->b, is_signed ? LLVMSDiv : LLVMUDiv, x, y) : NULL,
                  v->rest ? l_binop(v->b, is_signed ? LLVMSRem : LLVMURem, x, y) : NULL};
  return end_ways(v, &w, usual, all);
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

static Quotient divide_all(const Vectors *v, LLVMValueRef x, LLVMValueRef y, bool is_signed) {
  if (LLVMGetIntTypeWidth(LLVMGetElementType(v->ints)) < 64)
    return divide_few_bits(v, x, y, is_signed);
  return divides_short(v->l) ? divide_short_or_all(v, x, y, is_signed)
                             : divide_long(v, x, y, is_signed);
}

/* --- numbers that count, by one number --- */

/* By how much the dividend rises from lane 0 to the last one, where that counts and the divisor is
 * uniform; else 0. */
static uint64_t rise_of(Lanes *l, LLVMValueRef division) {
  enum { LEAST_BITS = 32, MOST = 1 << 16 };
  Shape n = ln_shape(l, LLVMGetOperand(division, 0));
  bool counts = n.kind == SHAPE_STEP && n.step > 0 && n.step < MOST;
  if (!counts || !ln_is_uniform(ln_shape(l, LLVMGetOperand(division, 1))) ||
      cg_int_width(division) < LEAST_BITS)
    return 0;
  return (uint64_t)n.step * (l->width - 1);
}

/* Are 0 <= n and rise < d, and both below a quarter of all numbers, so that n + rise is a number,
 * too? With wrap-around d - rise - 1 is large if d is not more. */
static LLVMValueRef rests_wrap_once(const Vectors *v, LLVMValueRef n, LLVMValueRef d,
                                    uint64_t rise) {
  LLVMTypeRef t = LLVMTypeOf(n);
  LLVMValueRef quarter = l_int(t, 1ull << (LLVMGetIntTypeWidth(t) - 2)),
               more = l_sub(v->b, d, l_int(t, rise + 1));
  return l_and(v->b, l_icmp(v->b, LLVMIntULT, n, quarter), l_icmp(v->b, LLVMIntULT, more, quarter));
}

static Quotient divide_first(const Vectors *v, LLVMValueRef n, LLVMValueRef d, int64_t step) {
  LLVMBuilderRef b = v->b;
  Lanes *l = v->l;
  LLVMValueRef q = l_binop(b, LLVMUDiv, n, d), rest = l_sub(b, n, l_mul(b, q, d)),
               rests = l_add(b, ln_splat(l, rest), ln_steps_vector(l, LLVMTypeOf(n), step)),
               by = ln_splat(l, d), wraps = l_icmp(b, LLVMIntUGE, rests, by);
  return (Quotient){l_sub(b, ln_splat(l, q), l_sext(b, wraps, v->ints)),
                    l_select(b, wraps, l_sub(b, rests, by), rests)};
}

static Quotient divide_first_or_all(const Vectors *v, LLVMValueRef division, LLVMValueRef x,
                                    LLVMValueRef y, bool is_signed) {
  Lanes *l = v->l;
  LLVMValueRef old = LLVMGetOperand(division, 0),
               n = l_freeze(v->b, ln_scalar(l, old)), /* of a lane that may rest */
      d = l_freeze(v->b, ln_scalar(l, LLVMGetOperand(division, 1)));
  TwoWays w = begin_ways(v, rests_wrap_once(v, n, d, rise_of(l, division)), "once", "often");
  Quotient usual = divide_first(v, n, d, ln_shape(l, old).step);
  other_way(v, &w);
  return end_ways(v, &w, usual, divide_all(v, x, y, is_signed));
}

/* --- entry points --- */

static bool is_rest(LLVMValueRef v) { return cg_is_op(v, LLVMSRem) || cg_is_op(v, LLVMURem); }

static bool is_signed_division(LLVMValueRef v) {
  return cg_is_op(v, LLVMSDiv) || cg_is_op(v, LLVMSRem);
}

/* `k // n` and `k % n` */
static bool are_one(LLVMValueRef a, LLVMValueRef b) {
  return cg_is_division(b) && is_signed_division(a) == is_signed_division(b) &&
         LLVMGetOperand(a, 0) == LLVMGetOperand(b, 0) &&
         LLVMGetOperand(a, 1) == LLVMGetOperand(b, 1);
}

/* In one block they are one division. */
static void find_wants(Vectors *v, LLVMValueRef division) {
  for (LLVMValueRef i = division; i; i = LLVMGetNextInstruction(i))
    if (i == division || are_one(division, i))
      *(is_rest(i) ? &v->rest : &v->quotient) = true;
}

LLVMValueRef ln_divide(Lanes *l, LLVMValueRef division, LLVMValueRef x, LLVMValueRef y) {
  bool is_signed = is_signed_division(division);
  LLVMTypeRef t = LLVMGetIntTypeWidth(LLVMTypeOf(division)) > 16 ? l->cg->t.f64 : l->cg->t.f32;
  Vectors v = {.l = l, .b = l->b, .ints = LLVMTypeOf(x), .floats = LLVMVectorType(t, l->width)};
  if (!l->divided.division || !are_one(l->divided.division, division)) {
    find_wants(&v, division);
    Quotient q = rise_of(l, division) ? divide_first_or_all(&v, division, x, y, is_signed)
                                      : divide_all(&v, x, y, is_signed);
    l->divided.division = division;
    l->divided.quotient = q.quotient;
    l->divided.rest = q.rest;
  }
  return is_rest(division) ? l->divided.rest : l->divided.quotient;
}
