/* Host math: functions of the C library as LLVM IR, so that they can be vectorised.
 *
 * In: a module that calls expf, log and so on. Out: the same, with calls of functions of the
 * module, which are inlined. They are straight-line arithmetic without tables. Rare arguments take
 * a branch to the C library. So lanes compute sixteen at a time (lanes/lanes.h), and a thread that
 * runs alone gets the same bits. float32 functions are computed in float64 and rounded once; series
 * are truncated where the rest is below 2**-32, so the error is hardly more than that of the
 * rounding. float64 functions are within 1 ulp. Bounds: docs/guide/accuracy.md. Sources: argument
 * reduction and series as in Muller, Elementary Functions; log of float64 is summed as by Tang
 * (1990). */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "codegen/host/host.h"

typedef LLVMValueRef V;
typedef struct Math {
  Cg *cg;
  LLVMBuilderRef b;
  const CgTypes *t;
  V fn, library; /* the function being written, and the one that it replaces */
} Math;

static const double TWO_OVER_PI = 0.63661977236758134308, HALF_PI = 1.57079632679489661923,
                    HALF_PI_REST = 6.12323399573676588613e-17, LN_2 = 0.69314718055994530942,
                    LN_2_HIGH = 6.93147180369123816490e-01 /* 32 bits */,
                    LN_2_REST = 1.90821492927058770002e-10, LOG2_E = 1.44269504088896340736,
                    LOG10_E = 0.43429448190325182765;

/* --- builders for float64 --- */

static V number(const Math *m, double v) { return LLVMConstReal(m->t->f64, v); }
static V integer(const Math *m, int64_t v) { return LLVMConstInt(m->t->i64, (uint64_t)v, 1); }
static V add(const Math *m, V x, V y) { return l_fadd(m->b, x, y); }
static V sub(const Math *m, V x, V y) { return l_fsub(m->b, x, y); }
static V mul(const Math *m, V x, V y) { return l_fmul(m->b, x, y); }
static V choose(const Math *m, V c, V x, V y) { return l_select(m->b, c, x, y); }
static V is(const Math *m, LLVMRealPredicate p, V x, double y) {
  return l_fcmp(m->b, p, x, LLVMConstReal(LLVMTypeOf(x), y));
}
static V bits(const Math *m, V x) { return l_bitcast(m->b, x, m->t->i64); }
static V of_bits(const Math *m, V x) { return l_bitcast(m->b, x, m->t->f64); }

static V call(const Math *m, const char *name, V const *args, unsigned n) {
  LLVMTypeRef t = LLVMTypeOf(args[0]);
  assert(n <= 3);
  V copy[3], fn = cg_intrinsic_fn(m->cg, name, &t, 1);
  memcpy(copy, args, n * sizeof *args);
  return l_call(m->b, fn, copy, n);
}
static V fused(const Math *m, V x, V y, V z) { return call(m, "llvm.fma", (V[]){x, y, z}, 3); }
static V size_of(const Math *m, V x) { return call(m, "llvm.fabs", &x, 1); }

/* A nan stays. */
static V clamped(const Math *m, V x, double low, double high) {
  x = choose(m, is(m, LLVMRealOGT, x, high), number(m, high), x);
  return choose(m, is(m, LLVMRealOLT, x, low), number(m, low), x);
}

/* c[0] + c[1] x + … */
static V polynomial(const Math *m, V x, const double *c, unsigned n) {
  V sum = number(m, c[n - 1]);
  for (unsigned k = n - 1; k-- > 0;)
    sum = fused(m, sum, x, number(m, c[k]));
  return sum;
}

/* The nearest integer, for |x| < 2**50. *low: its low bits, as an i64. */
static V nearest(const Math *m, V x, V *low) {
  V magic = number(m, 0x1.8p52), shifted = add(m, x, magic);
  *low = bits(m, shifted);
  return sub(m, shifted, magic);
}

/* 2**k, -1022 <= k <= 1023. */
static V power_of_2(const Math *m, V k) {
  V exponent = l_shl(m->b, k, integer(m, 52));
  return of_bits(m, l_add(m->b, exponent, integer(m, (int64_t)1023 << 52)));
}

/* --- exponentials --- */

enum { EXP2_TERMS = 10, EXP_TERMS = 14, LOG_TERMS = 9, SIN_TERMS = 7 };

/* 2**t for |t| < 1000, by the series with coefficients (ln 2)^k / k!. */
static V exp2_of(const Math *m, V t) {
  double c[EXP2_TERMS], term = 1;
  for (unsigned k = 0; k < EXP2_TERMS; term *= LN_2 / ++k)
    c[k] = term;
  V low, whole = nearest(m, t, &low);
  return mul(m, polynomial(m, sub(m, t, whole), c, EXP2_TERMS), power_of_2(m, low));
}

/* Beyond these bounds float32 has infinity and 0. */
static V exp2_for_float(const Math *m, V t) { return exp2_of(m, clamped(m, t, -160, 160)); }

static V write_exp_f(const Math *m, V x) { return exp2_for_float(m, mul(m, x, number(m, LOG2_E))); }
static V write_exp2_f(const Math *m, V x) { return exp2_for_float(m, x); }

/* (e**2x - 1) / (e**2x + 1), or x - x**3 / 3 near 0. Where the two meet the quotient loses 8 of 53
 * bits to cancellation. */
static V write_tanh_f(const Math *m, V x) {
  V e = exp2_of(m, clamped(m, mul(m, x, number(m, 2 * LOG2_E)), -60, 60)), one = number(m, 1);
  V quotient = l_fdiv(m->b, sub(m, e, one), add(m, e, one));
  V cube = mul(m, mul(m, x, x), x), near = fused(m, cube, number(m, -1.0 / 3), x);
  V result = choose(m, is(m, LLVMRealOLT, size_of(m, x), 0x1p-9), near, quotient);
  return choose(m, is(m, LLVMRealOEQ, x, 0), x, result);
}

/* e**r 2**k for x = k ln 2 + r. The power of 2 is applied as two factors, of which only the second
 * can round, for subnormal results. */
static V write_exp_d(const Math *m, V x) {
  double c[EXP_TERMS], term = 1;
  for (unsigned k = 0; k < EXP_TERMS; term /= ++k)
    c[k] = term;
  V low, t = clamped(m, x, -746, 710), whole = nearest(m, mul(m, t, number(m, LOG2_E)), &low);
  V minus = l_fneg(m->b, whole), r = fused(m, minus, number(m, LN_2_HIGH), t);
  r = fused(m, minus, number(m, LN_2_REST), r);
  V rest = fused(m, mul(m, r, r), polynomial(m, r, c + 2, EXP_TERMS - 2), r),
    e = add(m, rest, number(m, 1));
  V k = l_ashr(m->b, l_shl(m->b, low, integer(m, 52)), integer(m, 52));
  V half = l_ashr(m->b, k, integer(m, 1));
  return mul(m, mul(m, e, power_of_2(m, half)), power_of_2(m, l_sub(m->b, k, half)));
}

/* --- logarithms --- */

typedef struct Parts {
  V k, f; /* x = 2**k (1 + f), sqrt(1/2) <= 1 + f < sqrt(2) */
} Parts;

static Parts parts_of(const Math *m, V x) {
  V all = bits(m, x), root = integer(m, 0x3fe6a09e667f3bcd), mask = integer(m, 52);
  V k = l_ashr(m->b, l_sub(m->b, all, root), mask);
  V mantissa = of_bits(m, l_sub(m->b, all, l_shl(m->b, k, mask)));
  V narrow = l_trunc(m->b, k, m->t->i32);
  return (Parts){l_sitofp(m->b, narrow, m->t->f64), sub(m, mantissa, number(m, 1))};
}

/* For s = f / (2 + f), log(1 + f) = 2 s + s (2/3 s**2 + 2/5 s**4 + …). Returns the bracket, and s
 * in *s. */
static V log_series(const Math *m, V f, V *s) {
  double c[LOG_TERMS];
  for (unsigned k = 0; k < LOG_TERMS; k++)
    c[k] = 2.0 / (2 * k + 3);
  *s = l_fdiv(m->b, f, add(m, f, number(m, 2)));
  V z = mul(m, *s, *s);
  return mul(m, z, polynomial(m, z, c, LOG_TERMS));
}

/* Of a positive x that is not subnormal. */
static V log_of(const Math *m, V x) {
  Parts p = parts_of(m, x);
  V s, series = log_series(m, p.f, &s), log = fused(m, s, series, add(m, s, s));
  return fused(m, p.k, number(m, LN_2), log);
}

static V with_ends_of_log(const Math *m, V x, V log) {
  log = choose(m, is(m, LLVMRealOEQ, x, INFINITY), x, log);
  log = choose(m, is(m, LLVMRealOEQ, x, 0), number(m, -INFINITY), log);
  return choose(m, is(m, LLVMRealULT, x, 0), number(m, NAN), log);
}

static V write_log_f(const Math *m, V x) { return with_ends_of_log(m, x, log_of(m, x)); }
static V write_log2_f(const Math *m, V x) {
  return with_ends_of_log(m, x, mul(m, log_of(m, x), number(m, LOG2_E)));
}
static V write_log10_f(const Math *m, V x) {
  return with_ends_of_log(m, x, mul(m, log_of(m, x), number(m, LOG10_E)));
}

/* log(1 + f) = f - (f**2 / 2 - s (f**2 / 2 + series)). The low part of k ln 2 is added to the small
 * terms, the high part last. */
static V write_log_d(const Math *m, V x) {
  V tiny = is(m, LLVMRealOLT, x, 0x1p-1022),
    scaled = choose(m, tiny, mul(m, x, number(m, 0x1p54)), x);
  Parts p = parts_of(m, scaled);
  V k = sub(m, p.k, choose(m, tiny, number(m, 54), number(m, 0))), s,
    series = log_series(m, p.f, &s);
  V half = mul(m, mul(m, p.f, p.f), number(m, 0.5)),
    inner = fused(m, s, add(m, half, series), mul(m, k, number(m, LN_2_REST)));
  V log = sub(m, mul(m, k, number(m, LN_2_HIGH)), sub(m, sub(m, half, inner), p.f));
  return with_ends_of_log(m, x, log);
}

/* --- powers, of positive finite x and finite y --- */

static V write_pow_f(const Math *m, V x) {
  V y = l_fpext(m->b, LLVMGetParam(m->fn, 1), m->t->f64);
  return exp2_for_float(m, mul(m, y, mul(m, log_of(m, x), number(m, LOG2_E))));
}

/* Arguments that are not left to the C library. x has the function's own type. */
static V is_power(const Math *m, V x) {
  V y = size_of(m, LLVMGetParam(m->fn, 1));
  V good = l_and(m->b, is(m, LLVMRealOGT, x, 0), is(m, LLVMRealOLT, x, INFINITY));
  return l_and(m->b, good, is(m, LLVMRealOLT, y, INFINITY));
}

/* --- sine and cosine, of |x| <= 2**40 --- */

static V is_small_angle(const Math *m, V x) { return is(m, LLVMRealOLE, size_of(m, x), 0x1p40); }

/* x = n pi / 2 + r, reduced with 106 bits of pi / 2, and the series of sine or cosine, as n +
 * quarter selects. */
static V wave(const Math *m, V x, int quarter) {
  double sine[SIN_TERMS], cosine[SIN_TERMS + 1], term = 1;
  for (unsigned k = 0; k < SIN_TERMS; k++) {
    cosine[k] = term, term /= 2 * k + 1;
    sine[k] = term, term /= -(2.0 * k + 2);
  }
  cosine[SIN_TERMS] = term;
  V low, n = nearest(m, mul(m, x, number(m, TWO_OVER_PI)), &low), minus = l_fneg(m->b, n);
  V r = fused(m, minus, number(m, HALF_PI_REST), fused(m, minus, number(m, HALF_PI), x)),
    square = mul(m, r, r);
  V s = mul(m, r, polynomial(m, square, sine, SIN_TERMS)),
    c = polynomial(m, square, cosine, SIN_TERMS + 1);
  V turn = l_add(m->b, low, integer(m, quarter));
  V odd = l_trunc(m->b, turn, m->t->i1);
  V negative = l_trunc(m->b, l_lshr(m->b, turn, integer(m, 1)), m->t->i1);
  V size = choose(m, odd, c, s);
  return choose(m, negative, l_fneg(m->b, size), size);
}

static V write_sin_f(const Math *m, V x) {
  return choose(m, is(m, LLVMRealOEQ, x, 0), x, wave(m, x, 0));
}
static V write_cos_f(const Math *m, V x) { return wave(m, x, 1); }

/* --- the table --- */

typedef struct Row {
  const char *name;               /* in the C library */
  V (*write)(const Math *m, V x); /* x: in float64 */
  V (*holds)(const Math *m, V x); /* i1: x is not left to the C library; NULL: no x is */
} Row;

static const Row rows[] = {
    {"expf", write_exp_f, NULL},           {"exp2f", write_exp2_f, NULL},
    {"tanhf", write_tanh_f, NULL},         {"exp", write_exp_d, NULL},
    {"logf", write_log_f, NULL},           {"log2f", write_log2_f, NULL},
    {"log10f", write_log10_f, NULL},       {"log", write_log_d, NULL},
    {"powf", write_pow_f, is_power},       {"sinf", write_sin_f, is_small_angle},
    {"cosf", write_cos_f, is_small_angle},
};

static V computed(const Math *m, const Row *row) {
  V x = LLVMGetParam(m->fn, 0);
  LLVMTypeRef t = LLVMTypeOf(x);
  if (t == m->t->f64)
    return row->write(m, x);
  return l_fptrunc(m->b, row->write(m, l_fpext(m->b, x, m->t->f64)), t);
}

static V from_library(const Math *m) {
  V args[2];
  unsigned n = LLVMCountParams(m->fn);
  for (unsigned k = 0; k < n; k++)
    args[k] = LLVMGetParam(m->fn, k);
  return l_call(m->b, m->library, args, n);
}

static void write_body(const Math *m, const Row *row) {
  LLVMContextRef c = m->cg->context;
  LLVMPositionBuilderAtEnd(m->b, LLVMAppendBasicBlockInContext(c, m->fn, "begin"));
  if (!row->holds) {
    l_ret(m->b, computed(m, row));
    return;
  }
  LLVMBasicBlockRef often = LLVMAppendBasicBlockInContext(c, m->fn, "often"),
                    rare = LLVMAppendBasicBlockInContext(c, m->fn, "rare");
  l_condbr(m->b, row->holds(m, LLVMGetParam(m->fn, 0)), often, rare);
  LLVMPositionBuilderAtEnd(m->b, often);
  l_ret(m->b, computed(m, row));
  LLVMPositionBuilderAtEnd(m->b, rare);
  l_ret(m->b, from_library(m));
}

static void replace(Cg *cg, const Row *row, V library) {
  LLVMTypeRef type = LLVMGlobalGetValueType(library);
  assert(LLVMCountParams(library) >= 1 && LLVMCountParams(library) <= 2);
  Math m = {cg, cg->builder, &cg->t,
            LLVMAddFunction(cg->module, arena_printf(&cg->cx->arena, "pyptx.%s", row->name), type),
            library};
  LLVMSetLinkage(m.fn, LLVMInternalLinkage);
  LLVMAttributeIndex whole = L_FUNCTION;
  cg_attribute(cg, m.fn, whole, "alwaysinline", 0);
  cg_attribute(cg, m.fn, whole, "nounwind", 0);
  LLVMReplaceAllUsesWith(library, m.fn);
  write_body(&m, row);
  if (!row->holds)
    LLVMDeleteFunction(library);
}

void cg_host_math(Cg *cg) {
  LLVMBasicBlockRef here = LLVMGetInsertBlock(cg->builder);
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    V library = LLVMGetNamedFunction(cg->module, rows[k].name);
    if (library && LLVMIsDeclaration(library) && LLVMGetFirstUse(library))
      replace(cg, &rows[k], library);
  }
  if (here)
    LLVMPositionBuilderAtEnd(cg->builder, here);
}
