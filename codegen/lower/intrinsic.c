/* Intrinsics: lowered by the columns of ir/intrinsics.def.
 *
 * A row has a column for each target, which says how it is lowered there: as an LLVM intrinsic, as
 * a function of the math library, as one of libdevice, by a function cg_intrinsic_ID (FN), or not
 * at all (GONE, which typing never leaves). The functions are here and in warp.c and half.c; they
 * call the target for what differs between devices, and otherwise compute with the numerics that
 * docs/semantics.md asks for. Two tables made from the columns find them, and a row whose function
 * is missing does not link. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "codegen/lower/private.h"
#include "ir/libdevice.h"

typedef void (*IntrinsicFn)(Lower *lw, Ins *i);

/* From a column to the function of the row; only FN has one. SLOT pastes the column's first word,
 * so LLVM("x") becomes SLOT_LLVM("x")(ID), and that SLOT_GONE(ID). */
#define SLOT(ID, column) SLOT_##column(ID)
#define SLOT_GONE(ID)
#define SLOT_LLVM(name) SLOT_GONE
#define SLOT_LIB(name)  SLOT_GONE
#define SLOT_LIBDEVICE(ID)
#define SLOT_TARGET(ID)
#define SLOT_FN(ID)                                                  void cg_intrinsic_##ID(Lower *lw, Ins *i);
#define I(ID, path, signature, kind, rule, effect, nvptx, host, doc) SLOT(ID, nvptx) SLOT(ID, host)
#include "ir/intrinsics.def"
#undef I
#undef SLOT_FN
#undef SLOT_GONE

#define SLOT_GONE(ID)
#define SLOT_FN(ID)                                                  [INTR_##ID] = cg_intrinsic_##ID,
#define I(ID, path, signature, kind, rule, effect, nvptx, host, doc) SLOT(ID, nvptx)
static const IntrinsicFn nvptx_functions[INTR_COUNT] = {
#include "ir/intrinsics.def"
};
#undef I
#define I(ID, path, signature, kind, rule, effect, nvptx, host, doc) SLOT(ID, host)
static const IntrinsicFn host_functions[INTR_COUNT] = {
#include "ir/intrinsics.def"
};
#undef I

/* --- the columns --- */

/* The result v of a function of numbers (of the type of `like`, if it is a float), converted to the
 * instruction's type. */
static void set_result(Lower *lw, Ins *i, LLVMValueRef v, const Type *like) {
  LLVMTypeRef want = lw_scalar_type(lw->cg, i->type->id);
  if (LLVMTypeOf(v) == want) {
    lw_set(lw, i, v);
  } else if (LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMIntegerTypeKind) {
    v = l_int_cast(lw->b, v, want, 0); /* special registers are unsigned */
    if (LLVMIsAZExtInst(v))
      LLVMSetNNeg(v, 1);
    lw_set(lw, i, v);
  } else {
    lw_set(lw, i, lw_convert(lw, v, like, i->type));
  }
}

static void lower_llvm(Lower *lw, Ins *i, const char *name) {
  LLVMValueRef args[4];
  CX_ASSERT(lw->cx, i->nargs <= 4);
  for (uint32_t k = 0; k < i->nargs; k++)
    args[k] = lw_value(lw, i->args[k]);
  size_t n = strlen(name);
  bool overloaded = n && name[n - 1] == '.';
  const char *base = overloaded ? arena_strndup(&lw->cx->arena, name, n - 1) : name;
  LLVMTypeRef type = i->nargs ? LLVMTypeOf(args[0]) : NULL, given = type;
  if (given && lw_is_narrow(lw, given)) { /* not every target has a 16-bit square root */
    bool is_root = strcmp(base, "llvm.sqrt") == 0;
    for (uint32_t k = 0; k < i->nargs; k++)
      args[k] = is_root ? lw_widen(lw, args[k]) : lw_ready(lw, args[k]);
    type = LLVMTypeOf(args[0]);
  }
  LLVMValueRef v = lw_intrinsic(lw, base, &type, overloaded, args, i->nargs);
  lw_fast(lw, v);
  if (i->aux.intrinsic == INTR_MATH_SQRT && (lw->cg->options.fastmath & CG_FAST_SQRT) &&
      LLVMIsAInstruction(v))
    LLVMSetFastMathFlags(v, LLVMGetFastMathFlags(v) | LLVMFastMathApproxFunc);
  if (given != type)
    v = lw_fit(lw, v, given);
  set_result(lw, i, v, i->nargs ? i->args[0]->type : NULL);
}

static void lower_lib(Lower *lw, Ins *i, const char *name) {
  LLVMValueRef args[4];
  CX_ASSERT(lw->cx, i->nargs >= 1 && i->nargs <= 4);
  for (uint32_t k = 0; k < i->nargs; k++)
    args[k] = lw_value(lw, i->args[k]);
  bool is_step = i->aux.intrinsic == INTR_MATH_NEXTAFTER && lw_is_narrow(lw, LLVMTypeOf(args[0]));
  set_result(lw, i,
             is_step ? lw_half_nextafter(lw, args[0], args[1]) : lw_math(lw, name, args, i->nargs),
             i->args[0]->type);
}

static LLVMTypeRef result_type(Lower *lw, TypeId id) {
  return id == TY_VOID ? lw->t->none : lw_scalar_type(lw->cg, id);
}

/* __nv_NAME(parameters, addresses of outputs). The attributes say that it only computes, so that
 * LLVM removes unused calls and merges equal ones. */
static void lower_libdevice(Lower *lw, Ins *i) {
  enum { ONLY_ITS_ARGUMENTS = 3 }; /* memory(argmem: readwrite) */
  const LibdeviceInfo *f = ir_libdevice(i->aux.intrinsic);
  assert(f && f->nparams == i->nargs && f->noutputs <= LIBDEVICE_MAX_OUTPUTS);
  LLVMValueRef args[LIBDEVICE_MAX_PARAMS + LIBDEVICE_MAX_OUTPUTS];
  for (unsigned k = 0; k < f->nparams; k++)
    args[k] = lw_value(lw, i->args[k]);
  for (unsigned k = 0; k < f->noutputs; k++)
    args[f->nparams + k] = lw_alloca(lw, lw_scalar_type(lw->cg, f->outputs[k]), 8, "output");
  LLVMValueRef v = lw_call_extern(lw, f->symbol, result_type(lw, f->result), args,
                                  f->nparams + f->noutputs);
  LLVMValueRef fn = LLVMGetCalledValue(v);
  cg_attribute(lw->cg, fn, L_FUNCTION, "willreturn", 0);
  cg_attribute(lw->cg, fn, L_FUNCTION, "memory", f->noutputs ? ONLY_ITS_ARGUMENTS : 0);
  LLVMValueRef *leaves = CX_ARRAY(lw->cx, LLVMValueRef, 1 + LIBDEVICE_MAX_OUTPUTS);
  unsigned n = 0;
  if (f->result != TY_VOID)
    leaves[n++] = v;
  for (unsigned k = 0; k < f->noutputs; k++)
    leaves[n++] = l_load(lw->b, lw_scalar_type(lw->cg, f->outputs[k]), args[f->nparams + k]);
  lw_set_leaves(lw, i, leaves);
}

void lw_intrinsic_ins(Lower *lw, Ins *i) {
  assert(i->aux.intrinsic < INTR_COUNT);
  const IntrinsicInfo *info = &ir_intrinsics[i->aux.intrinsic];
  const Lowering *how = lw->target->lowering(info);
  IntrinsicId id = i->aux.intrinsic;
  IntrinsicFn own = nvptx_functions[id] ? nvptx_functions[id] : host_functions[id];
  switch (how->kind) {
  case LOWER_LLVM: lower_llvm(lw, i, how->name); return;
  case LOWER_LIB: lower_lib(lw, i, how->name); return;
  case LOWER_LIBDEVICE: lower_libdevice(lw, i); return;
  case LOWER_FN:
    if (own) {
      own(lw, i);
      return;
    }
    break;
  case LOWER_TARGET: lw->target->instruction(lw, i); return;
  case LOWER_GONE: break;
  }
  cx_bug(lw->cx, "%s has no lowering for %s", info->path, lw->target->name);
}

/* --- special registers --- */

#define S(ID, ptx, path, kind, rule, of, least, most, host, doc)                                   \
  void cg_intrinsic_##ID(Lower *lw, Ins *i) {                                                      \
    set_result(lw, i, lw->target->sreg(lw, SREG_##ID), NULL);                                      \
  }
#include "ir/registers.def"
#undef S

/* --- barriers and fences --- */

void cg_intrinsic_SYNCTHREADS(Lower *lw, Ins *i) {
  (void)i;
  lw->target->barrier(lw);
}

static void vote(Lower *lw, Ins *i, BarrierVote how) {
  set_result(lw, i, lw->target->barrier_vote(lw, how, lw_value(lw, i->args[0])), NULL);
}
void cg_intrinsic_SYNCTHREADS_AND(Lower *lw, Ins *i) { vote(lw, i, VOTE_AND); }
void cg_intrinsic_SYNCTHREADS_OR(Lower *lw, Ins *i) { vote(lw, i, VOTE_OR); }
void cg_intrinsic_SYNCTHREADS_COUNT(Lower *lw, Ins *i) { vote(lw, i, VOTE_COUNT); }

static void fence(Lower *lw, FenceLevel level) { lw->target->fence(lw, level); }
void cg_intrinsic_THREADFENCE(Lower *lw, Ins *i) { (void)i, fence(lw, FENCE_DEVICE); }
void cg_intrinsic_THREADFENCE_BLOCK(Lower *lw, Ins *i) { (void)i, fence(lw, FENCE_BLOCK); }
void cg_intrinsic_THREADFENCE_SYSTEM(Lower *lw, Ins *i) { (void)i, fence(lw, FENCE_SYSTEM); }

/* --- bits, time --- */

static LLVMValueRef count_zeros(Lower *lw, const char *name, LLVMValueRef x) {
  LLVMTypeRef t = LLVMTypeOf(x);
  return lw_intrinsic(lw, name, &t, 1, (LLVMValueRef[]){x, LLVMConstNull(lw->t->i1)}, 2);
}

void cg_intrinsic_CUDA_CLZ(Lower *lw, Ins *i) {
  set_result(lw, i, count_zeros(lw, "llvm.ctlz", lw_value(lw, i->args[0])), NULL);
}

void cg_intrinsic_CUDA_FFS(Lower *lw, Ins *i) {
  LLVMValueRef x = lw_value(lw, i->args[0]);
  LLVMTypeRef t = LLVMTypeOf(x);
  LLVMValueRef at = l_add(lw->b, count_zeros(lw, "llvm.cttz", x), lw_int(lw, t, 1));
  LLVMValueRef none = l_icmp(lw->b, LLVMIntEQ, x, LLVMConstNull(t));
  set_result(lw, i, l_select(lw->b, none, LLVMConstNull(t), at), NULL);
}

void cg_intrinsic_CUDA_NANOSLEEP(Lower *lw, Ins *i) {
  lw->target->nanosleep(lw, lw_value(lw, i->args[0]));
}

/* --- numbers --- */

void cg_intrinsic_NP_VIEW(Lower *lw, Ins *i) {
  LLVMTypeRef t = lw_scalar_type(lw->cg, i->type->id);
  lw_set(lw, i, l_bitcast(lw->b, lw_value(lw, i->args[0]), t));
}

static LLVMValueRef fabs_of(Lower *lw, LLVMValueRef x) {
  LLVMTypeRef t = LLVMTypeOf(x);
  return lw_intrinsic(lw, "llvm.fabs", &t, 1, &x, 1);
}

static LLVMValueRef infinity_like(LLVMValueRef x) {
  return LLVMConstReal(LLVMTypeOf(x), __builtin_inf());
}

void cg_intrinsic_MATH_ISNAN(Lower *lw, Ins *i) {
  lw_set(lw, i, lw_is_nan(lw, lw_value(lw, i->args[0])));
}

void cg_intrinsic_MATH_ISINF(Lower *lw, Ins *i) {
  LLVMValueRef x = fabs_of(lw, lw_ready(lw, lw_value(lw, i->args[0])));
  lw_set(lw, i, l_fcmp(lw->b, LLVMRealOEQ, x, infinity_like(x)));
}

void cg_intrinsic_MATH_ISFINITE(Lower *lw, Ins *i) {
  LLVMValueRef x = fabs_of(lw, lw_ready(lw, lw_value(lw, i->args[0])));
  lw_set(lw, i, l_fcmp(lw->b, LLVMRealOLT, x, infinity_like(x)));
}

void cg_intrinsic_PY_ABS(Lower *lw, Ins *i) {
  LLVMValueRef x = lw_value(lw, i->args[0]);
  LLVMTypeRef t = LLVMTypeOf(x);
  if (ty_is_float(i->type))
    lw_set(lw, i, lw_fit(lw, fabs_of(lw, lw_ready(lw, x)), t));
  else if (t == lw->t->i64 && i->flags & INS_I32) { /* so that of x is no more than int32 holds */
    LLVMValueRef of[] = {lw_low(lw, x), l_int(lw->t->i1, 1)};
    lw_set(lw, i, lw_extended(lw, i, lw_intrinsic(lw, "llvm.abs", &lw->t->i32, 1, of, 2)));
  } else if (ty_is_signed(i->type)) /* the smallest integer stays itself, as in NumPy */
    lw_set(lw, i,
           lw_intrinsic(lw, "llvm.abs", &t, 1, (LLVMValueRef[]){x, LLVMConstNull(lw->t->i1)}, 2));
  else
    lw_set(lw, i, x);
}

/* To the nearest whole number, halves to even, as a float. */
void cg_intrinsic_PY_ROUND(Lower *lw, Ins *i) {
  LLVMValueRef given = lw_value(lw, i->args[0]), x = lw_ready(lw, given);
  LLVMTypeRef t = LLVMTypeOf(x);
  if (ty_is_float(i->args[0]->type))
    x = lw_fit(lw, lw_intrinsic(lw, "llvm.roundeven", &t, 1, &x, 1), LLVMTypeOf(given));
  set_result(lw, i, x, i->args[0]->type);
}

/* C's ldexp takes an int. Exponents beyond ±5000 are clamped: the result is 0 or infinite in any
 * case. */
void cg_intrinsic_MATH_LDEXP(Lower *lw, Ins *i) {
  LLVMTypeRef t = lw->t->i64;
  LLVMValueRef e = lw_value(lw, i->args[1]);
  e = lw_intrinsic(lw, "llvm.smax", &t, 1, (LLVMValueRef[]){e, lw_i64(lw, -5000)}, 2);
  e = lw_intrinsic(lw, "llvm.smin", &t, 1, (LLVMValueRef[]){e, lw_i64(lw, 5000)}, 2);
  LLVMValueRef args[] = {lw_value(lw, i->args[0]), l_trunc(lw->b, e, lw->t->i32)};
  lw_set(lw, i, lw_math(lw, "ldexp", args, 2));
}

/* A power of two that takes `high` to 0.5 … 8 (a subnormal to what is below), and its inverse:
 * exponents are even multiples, so that neither is zero, subnormal or infinite. */
static void scales_of(Lower *lw, LLVMValueRef high, LLVMTypeRef t, LLVMValueRef *scale,
                      LLVMValueRef *back) {
  LLVMBuilderRef b = lw->b;
  LLVMTypeRef bits = LLVMTypeOf(high);
  int mantissa = t == lw->t->f64 ? 52 : 23;
  int64_t top = t == lw->t->f64 ? 0x7ff : 0xff;
  LLVMValueRef kept = l_and(b, high, lw_int(lw, bits, (top & ~3) << mantissa));
  LLVMValueRef down = l_sub(b, lw_int(lw, bits, (top - 2) << mantissa), kept),
               up = l_or(b, kept, lw_int(lw, bits, (int64_t)1 << mantissa));
  *scale = l_bitcast(b, down, t), *back = l_bitcast(b, up, t);
}

/* sqrt(x**2 + y**2) within 1 ulp of the rounded one, for a target whose library is less accurate.
 * Both are scaled so that the square of the larger one neither overflows nor underflows; what is
 * lost is at most 0.53 ulp by the two roundings of the sum and 0.5 by the root's. `least` is too
 * small to be seen, but keeps the root's argument away from 0: scaled back, its root is 0.
 * As integers nan is above infinity, so of a nan and an infinity `low` is the infinity. */
void cg_intrinsic_MATH_HYPOT(Lower *lw, Ins *i) {
  LLVMBuilderRef b = lw->b;
  LLVMValueRef given = lw_value(lw, i->args[0]), x = fabs_of(lw, lw_widen(lw, given)),
               y = fabs_of(lw, lw_widen(lw, lw_value(lw, i->args[1])));
  LLVMTypeRef t = LLVMTypeOf(x), bits = t == lw->t->f64 ? lw->t->i64 : lw->t->i32;
  LLVMValueRef sides[] = {l_bitcast(b, x, bits), l_bitcast(b, y, bits)};
  LLVMValueRef top = lw_intrinsic(lw, "llvm.umax", &bits, 1, sides, 2), scale, back;
  scales_of(lw, top, t, &scale, &back);
  LLVMValueRef smaller = l_bitcast(b, lw_intrinsic(lw, "llvm.umin", &bits, 1, sides, 2), t);
  LLVMValueRef high = l_fmul(b, l_bitcast(b, top, t), scale), low = l_fmul(b, smaller, scale);
  LLVMValueRef least = LLVMConstReal(t, t == lw->t->f64 ? 0x1p-200 : 0x1p-90);
  LLVMValueRef square = lw_intrinsic(lw, "llvm.fma", &t, 1, (LLVMValueRef[]){low, low, least}, 3);
  LLVMValueRef sum = lw_intrinsic(lw, "llvm.fma", &t, 1, (LLVMValueRef[]){high, high, square}, 3);
  LLVMValueRef root = l_fmul(b, lw_intrinsic(lw, "llvm.sqrt", &t, 1, &sum, 1), back);
  LLVMValueRef infinity = infinity_like(x), end = l_fcmp(b, LLVMRealOEQ, smaller, infinity);
  lw_set(lw, i, lw_fit(lw, l_select(b, end, infinity, root), LLVMTypeOf(given)));
}

/* (m, e) with 0.5 <= |m| < 1 and x = m * 2**e, from the bits; for zero, infinities and nan (x, 0).
 * A subnormal is scaled up first. */
void cg_intrinsic_MATH_FREXP(Lower *lw, Ins *i) {
  LLVMBuilderRef b = lw->b;
  LLVMValueRef x = lw_value(lw, i->args[0]);
  LLVMTypeRef t = LLVMTypeOf(x), bits_t = t == lw->t->f64 ? lw->t->i64 : lw->t->i32;
  int mantissa = t == lw->t->f64 ? 52 : 23, top = t == lw->t->f64 ? 0x7ff : 0xff,
      bias = top / 2 - 1;
  LLVMValueRef size = fabs_of(lw, x);
  LLVMValueRef normal_min = LLVMConstReal(t, t == lw->t->f64 ? 0x1p-1022 : 0x1p-126);
  LLVMValueRef tiny = l_fcmp(b, LLVMRealOLT, size, normal_min);
  LLVMValueRef scaled = l_select(b, tiny, l_fmul(b, x, LLVMConstReal(t, 0x1p64)), x);
  LLVMValueRef bits = l_bitcast(b, scaled, bits_t);
  LLVMValueRef field = l_and(b, l_lshr(b, bits, lw_int(lw, bits_t, mantissa)),
                             lw_int(lw, bits_t, top));
  LLVMValueRef e = l_sub(b, l_zext_or_same(b, field, lw->t->i64), lw_i64(lw, bias));
  e = l_sub(b, e, l_select(b, tiny, lw_i64(lw, 64), lw_i64(lw, 0)));
  LLVMValueRef cleared = l_and(b, bits, lw_int(lw, bits_t, ~((int64_t)top << mantissa)));
  LLVMValueRef m = l_bitcast(b, l_or(b, cleared, lw_int(lw, bits_t, (int64_t)bias << mantissa)), t);
  LLVMValueRef finite = l_fcmp(b, LLVMRealOLT, size, infinity_like(x));
  LLVMValueRef normal = l_and(b, finite, l_fcmp(b, LLVMRealUNE, x, LLVMConstNull(t)));
  LLVMValueRef *leaves = CX_ARRAY(lw->cx, LLVMValueRef, 2);
  leaves[0] = l_select(b, normal, m, x);
  leaves[1] = l_select(b, normal, e, lw_i64(lw, 0));
  lw_set_leaves(lw, i, leaves);
}

/* (fraction, whole), both with x's sign; the fraction of an infinity is 0. */
void cg_intrinsic_MATH_MODF(Lower *lw, Ins *i) {
  LLVMBuilderRef b = lw->b;
  LLVMValueRef x = lw_value(lw, i->args[0]);
  LLVMTypeRef t = LLVMTypeOf(x);
  LLVMValueRef whole = lw_intrinsic(lw, "llvm.trunc", &t, 1, &x, 1);
  LLVMValueRef inf = l_fcmp(b, LLVMRealOEQ, fabs_of(lw, x), infinity_like(x));
  LLVMValueRef part = l_select(b, inf, LLVMConstNull(t), l_fsub(b, x, whole));
  LLVMValueRef *leaves = CX_ARRAY(lw->cx, LLVMValueRef, 2);
  leaves[0] = lw_intrinsic(lw, "llvm.copysign", &t, 1, (LLVMValueRef[]){part, x}, 2);
  leaves[1] = whole;
  lw_set_leaves(lw, i, leaves);
}
