/* NVPTX rounded: int64 numbers that were floats, in 32 bits.
 *
 *   i = int(math.floor(x)); min(max(i + 1, 0), n - 1); x - np.float32(i + 1)
 *
 * A clamp of 64 bits has eight instructions, a comparison two. But to clamp to bounds of 32 bits is
 * to saturate first: the conversion to int32 does that. And the way back, for which int64s wait in
 * the queue of roots and exponentials, is the float itself, if it was whole, else its whole part.
 *
 * In: functions after LLVM's passes. Rewritten are clamps of i + c, c a small constant, between a
 * constant and what fits int32, float32 of i + c, and the low bits of i. The bits are the same for
 * every float: i is 0 for nan; beyond int64 it is the nearest end of it, where i + c wraps around.
 * Comparisons of i with such bounds are rewritten too, and what is read behind two that bound it.
 * Where x was clamped before it was converted, as `int(min(max(x, 0.0), float32(n - 1)))`, or
 * branches bound it, `if x > 0: i = min(int(x), n)`, i or its minimum fits int32 wherever it is.
 *
 * Where c is the counter of a short loop, that is unrolled fully first (rounded_loops.c).
 *
 * Out: the conversion to int64 stays where it has other uses. */
#include <assert.h>
#include <math.h>

#include "codegen/llvm/compat.h"
#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"
#include "codegen/llvm/optimize.h"
#include "codegen/nvptx/nvptx.h"
#include "codegen/nvptx/ranges/float_bounds.h"
#include "codegen/nvptx/ranges/guarded.h"
#include "codegen/nvptx/ranges/sure_accesses.h"
#include "codegen/nvptx/ranges/value_ranges.h"

enum {
  MOST_ADDED = 255,
  MOST_USES = 64,
  MOST_SUMS = 4,
  MOST_BLOCKS = 8,
  MOST_STEPS = 6, /* from a conversion to what a selection is of */
};

static const double END = 9223372036854775808.0; /* 2^63 */

typedef struct Rounded {
  Cg *cg;
  LLVMValueRef x, nan,
      i; /* a float, its comparison with itself (NULL: it is a number), its int64 */
} Rounded;

typedef struct Sum { /* i + c */
  LLVMValueRef v;
  int64_t c;
  bool wraps; /* and matters where it wraps around */
} Sum;

typedef struct Sums { /* i itself is the first, c of the others is more than 0 */
  Sum list[MOST_SUMS];
  LLVMBasicBlockRef elements[MOST_BLOCKS]; /* which access element i: it fits int32 there */
  unsigned n, nelements;
} Sums;

typedef struct Uses {
  LLVMValueRef by[MOST_USES];
  unsigned n; /* those beyond are left as they are */
} Uses;

static Uses uses_of(LLVMValueRef v) {
  Uses all = {.n = 0};
  for (LLVMUseRef u = LLVMGetFirstUse(v); u && all.n < MOST_USES; u = LLVMGetNextUse(u))
    all.by[all.n++] = LLVMGetUser(u);
  return all;
}

static Sums sums_of(const Rounded *r) {
  Sums all = {.list = {{r->i, 0, false}}, .n = 1};
  Uses uses = uses_of(r->i);
  for (unsigned k = 0; k < uses.n && all.n < MOST_SUMS; k++) {
    LLVMValueRef by = uses.by[k], c = cg_is_op(by, LLVMAdd) ? LLVMGetOperand(by, 1) : NULL;
    if (c && LLVMIsAConstantInt(c) && LLVMConstIntGetSExtValue(c) > 0 &&
        LLVMConstIntGetSExtValue(c) <= MOST_ADDED)
      all.list[all.n++] = (Sum){by, LLVMConstIntGetSExtValue(c), true};
  }
  return all;
}

static bool is_element(const Sums *sums, LLVMValueRef by) {
  unsigned k = 0;
  while (k < sums->nelements && sums->elements[k] != LLVMGetInstructionParent(by))
    k++;
  return k < sums->nelements;
}

static void find_elements(Cg *cg, Sums *sums) {
  for (unsigned k = 0; k < sums->n; k++) {
    Uses uses = uses_of(sums->list[k].v);
    for (unsigned u = 0; u < uses.n && sums->nelements < MOST_BLOCKS; u++) {
      LLVMBasicBlockRef block = LLVMGetInstructionParent(uses.by[u]);
      if (!is_element(sums, uses.by[u]) && cg_nvptx_is_element(cg, block, sums->list[0].v))
        sums->elements[sums->nelements++] = block;
    }
  }
}

static LLVMValueRef call(Cg *cg, const char *name, LLVMTypeRef t, LLVMValueRef *args, unsigned n) {
  return l_call(cg->builder, cg_intrinsic_fn(cg, name, &t, t ? 1 : 0), args, n);
}

static LLVMValueRef least(Cg *cg, LLVMValueRef a, LLVMValueRef b) {
  return call(cg, "llvm.smin", cg->t.i32, (LLVMValueRef[]){a, b}, 2);
}

static LLVMValueRef most(Cg *cg, LLVMValueRef a, LLVMValueRef b) {
  return call(cg, "llvm.smax", cg->t.i32, (LLVMValueRef[]){a, b}, 2);
}

static bool is_whole(LLVMValueRef x) {
  static const char *const names[] = {"llvm.floor.f32", "llvm.ceil.f32", "llvm.trunc.f32",
                                      "llvm.rint.f32", "llvm.roundeven.f32"};
  for (size_t k = 0; LLVMIsACallInst(x) && k < sizeof names / sizeof *names; k++)
    if (cg_is_call_of(x, names[k]))
      return true;
  return false;
}

/* --- in 32 bits --- */

/* Is it beyond int64? False for nan. */
static LLVMValueRef is_far(const Rounded *r) {
  LLVMTypeRef t = LLVMTypeOf(r->x);
  LLVMValueRef x = r->x;
  return l_fcmp(r->cg->builder, LLVMRealOGE, call(r->cg, "llvm.fabs", t, &x, 1),
                LLVMConstReal(t, END));
}

/* Is it 2^63 or more, so that i is the greatest int64? For `no`: is it not? */
static LLVMValueRef is_beyond(const Rounded *r, bool no) {
  LLVMValueRef x = is_whole(r->x) ? LLVMGetOperand(r->x, 0) : r->x;
  return l_fcmp(r->cg->builder, no ? LLVMRealULT : LLVMRealOGE, x,
                LLVMConstReal(LLVMTypeOf(x), END));
}

/* i + c saturated to int32, where a sum that wraps around is at the other end. Of sums below
 * INT32_MIN it is at most INT32_MIN + c; of those above INT32_MAX at least INT32_MAX + c. */
static LLVMValueRef narrow_sum(const Rounded *r, int64_t c) {
  Cg *cg = r->cg;
  LLVMBuilderRef b = cg->builder;
  LLVMTypeRef t = cg->t.i32;
  bool from64 = LLVMTypeOf(r->x) == cg->t.f64;
  LLVMValueRef x = r->x;
  LLVMValueRef s = call(cg, from64 ? "llvm.nvvm.d2i.rz" : "llvm.nvvm.f2i.rz", NULL, &x, 1);
  if (from64 && r->nan) /* the conversion from float32 gives 0 */
    s = l_select(b, r->nan, LLVMConstNull(t), s);
  if (!c)
    return s;
  s = l_select(b, is_far(r), l_int(t, (uint64_t)(c > 0 ? INT32_MIN : INT32_MAX)), s);
  s = c > 0 ? least(cg, s, l_int(t, (uint64_t)(INT32_MAX - c)))
            : most(cg, s, l_int(t, (uint64_t)(INT32_MIN - c)));
  return l_add_nsw(b, s, l_int(t, (uint64_t)c));
}

/* The operand of a minimum or maximum that is not v; else NULL. */
static LLVMValueRef limit_of(LLVMValueRef by, LLVMValueRef v, const char *name) {
  if (!LLVMIsACallInst(by) || !cg_is_call_of(by, name))
    return NULL;
  return LLVMGetOperand(by, LLVMGetOperand(by, 0) == v);
}

/* The same of a minimum of v, which is at least `low`: also of unsigned numbers if none is
 * negative. */
static LLVMValueRef upper_limit(LLVMValueRef by, LLVMValueRef v, LLVMValueRef low) {
  LLVMValueRef high = limit_of(by, v, "llvm.umin.i64");
  bool positive = high && cg_nvptx_range(low).lo >= 0 && cg_nvptx_range(high).lo >= 0;
  return positive ? high : limit_of(by, v, "llvm.smin.i64");
}

/* positive: neither is negative. */
static void replace(Cg *cg, LLVMValueRef clamped, LLVMValueRef narrow, bool positive) {
  Uses uses = uses_of(clamped);
  for (unsigned k = 0; k < uses.n; k++)
    if (LLVMIsATruncInst(uses.by[k]) && LLVMTypeOf(uses.by[k]) == cg->t.i32)
      LLVMReplaceAllUsesWith(uses.by[k], narrow);
    else if (LLVMIsASIToFPInst(uses.by[k]))
      LLVMSetOperand(uses.by[k], 0, narrow);
  LLVMValueRef wide = positive ? l_zext(cg->builder, narrow, cg->t.i64)
                               : l_sext(cg->builder, narrow, cg->t.i64);
  if (positive)
    LLVMSetNNeg(wide, true);
  LLVMReplaceAllUsesWith(clamped, wide);
}

static void place_before(Cg *cg, LLVMValueRef i) {
  LLVMPositionBuilderBefore(cg->builder, i);
  LLVMSetCurrentDebugLocation2(cg->builder, LLVMInstructionGetDebugLoc(i));
}

/* A clamp of the sum i + c: `inner` is one of its limits, `outer` the other. */
static bool rewrite_clamp(const Rounded *r, LLVMValueRef sum, int64_t c, LLVMValueRef inner,
                          LLVMValueRef outer) {
  LLVMValueRef low = limit_of(inner, sum, "llvm.smax.i64"), high;
  bool low_first = low != NULL;
  low = low_first ? low : limit_of(outer, inner, "llvm.smax.i64");
  high = low_first ? upper_limit(outer, inner, low) : limit_of(inner, sum, "llvm.smin.i64");
  if (!low || !high || !LLVMIsAConstantInt(low))
    return false;
  if (cg_nvptx_range(low).lo < INT32_MIN + MOST_ADDED ||
      cg_nvptx_range(high).hi > INT32_MAX + (c < 0 ? c : 0))
    return false;
  low = cg_nvptx_narrow_bound(r->cg, low);
  high = cg_nvptx_narrow_bound(r->cg, high);
  if (!low || !high)
    return false;
  place_before(r->cg, outer);
  LLVMValueRef v = narrow_sum(r, c);
  v = low_first ? least(r->cg, most(r->cg, v, low), high) : most(r->cg, least(r->cg, v, high), low);
  replace(r->cg, outer, v, false);
  return true;
}

/* min(i, high) of which only the low 8 bits are used: of a float32 beyond int32 those are 0, as of
 * the least int32. */
static bool rewrite_low_byte(const Rounded *r, LLVMValueRef clamp) {
  LLVMValueRef high = limit_of(clamp, r->i, "llvm.smin.i64");
  Uses uses = uses_of(clamp);
  bool only = high && uses.n < MOST_USES && LLVMTypeOf(r->x) == r->cg->t.f32;
  for (unsigned k = 0; k < uses.n && only; k++)
    only = LLVMIsATruncInst(uses.by[k]) && LLVMGetIntTypeWidth(LLVMTypeOf(uses.by[k])) <= 8;
  high = only && LLVMIsAConstantInt(high) ? cg_nvptx_narrow_bound(r->cg, high) : NULL;
  if (!high)
    return false;
  place_before(r->cg, clamp);
  replace(r->cg, clamp, least(r->cg, narrow_sum(r, 0), high), false);
  return true;
}

/* --- guards ---
 *
 *   b = int(x)
 *   if 0 <= b < bins: counts[b] += 1
 *
 * What is compared with numbers of 32 bits is the same if it is saturated to them; behind the two
 * comparisons it fits. */

/* Is the comparison the same of i saturated to int32? */
static bool is_same_narrow(const Compared *c) {
  switch (c->how) {
  case LLVMIntSLT:
  case LLVMIntSGE: return c->range.lo > INT32_MIN;
  case LLVMIntSGT:
  case LLVMIntSLE: return c->range.hi < INT32_MAX;
  case LLVMIntULT:
  case LLVMIntUGE: return c->range.lo >= 0;
  default: return false;
  }
}

static bool is_less(LLVMIntPredicate how) { return how == LLVMIntSLT || how == LLVMIntSLE; }

/* A comparison of i + c is one of i with bound - c, but where the sum wraps around: that is less
 * than any bound. */
static LLVMValueRef compare_sum(const Rounded *r, const Sum *sum, const Compared *with) {
  LLVMBuilderRef b = r->cg->builder;
  LLVMValueRef bound = l_sub(b, with->narrow, l_int(r->cg->t.i32, (uint64_t)sum->c)),
               is = l_icmp(b, with->how, narrow_sum(r, 0), bound);
  if (!sum->wraps)
    return is;
  return is_less(with->how) ? l_or(b, is, is_beyond(r, false)) : l_and(b, is, is_beyond(r, true));
}

static bool rewrite_comparison(const Rounded *r, const Sum *sum, LLVMValueRef by) {
  Compared c = cg_nvptx_compared(r->cg, sum->v, by);
  c.range = (Interval){c.range.lo - sum->c, c.range.hi - sum->c};
  bool is_signed = c.how >= LLVMIntSGT && c.range.lo > INT32_MIN;
  if (!c.narrow || !is_same_narrow(&c) || (sum->c && !is_signed))
    return false;
  place_before(r->cg, by);
  LLVMValueRef is = sum->c ? compare_sum(r, sum, &c)
                           : l_icmp(r->cg->builder, c.how, narrow_sum(r, 0), c.narrow);
  LLVMReplaceAllUsesWith(by, is);
  LLVMInstructionEraseFromParent(by);
  return true;
}

static void set_operand(LLVMValueRef by, LLVMValueRef old, LLVMValueRef v) {
  for (unsigned n = 0; n < (unsigned)LLVMGetNumOperands(by); n++)
    if (LLVMGetOperand(by, n) == old)
      LLVMSetOperand(by, n, v);
}

/* Is i from 0 on, and less than 2^31, wherever the block runs? `i >= 0 and i + 1 < n` says so, too,
 * if the sum does not wrap around. */
static bool fits(const Rounded *r, const FnGraph *g, const Sums *sums, LLVMBasicBlockRef block,
                 LLVMBasicBlockRef to) {
  unsigned known = cg_nvptx_guards(r->cg, g, r->i, block, to);
  for (unsigned k = 1; k < sums->n && known & GUARD_FROM_0; k++)
    if (!sums->list[k].wraps)
      known |= cg_nvptx_guards(r->cg, g, sums->list[k].v, block, to) & GUARD_SMALL;
  return (known & GUARD_WHOLE) == GUARD_WHOLE;
}

/* What comes to a phi by edges behind guards, in 32 bits. */
static bool rewrite_incoming(const Rounded *r, const FnGraph *g, const Sums *sums,
                             LLVMValueRef phi) {
  bool found = false;
  for (unsigned e = 0; e < LLVMCountIncoming(phi); e++) {
    LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, e);
    if (LLVMGetIncomingValue(phi, e) != r->i ||
        !fits(r, g, sums, from, LLVMGetInstructionParent(phi)))
      continue;
    place_before(r->cg, LLVMGetBasicBlockTerminator(from));
    LLVMSetOperand(phi, e, l_zext(r->cg->builder, narrow_sum(r, 0), r->cg->t.i64));
    found = true;
  }
  return found;
}

/* What is read behind guards, in 32 bits. */
static bool rewrite_guarded(const Rounded *r, const FnGraph *g, const Sums *sums) {
  Cg *cg = r->cg;
  bool found = false;
  Uses uses = uses_of(r->i);
  for (unsigned k = 0; k < uses.n; k++) {
    LLVMValueRef by = uses.by[k];
    if (LLVMIsAPHINode(by)) {
      found |= rewrite_incoming(r, g, sums, by);
      continue;
    }
    bool whole = fits(r, g, sums, LLVMGetInstructionParent(by), NULL);
    if (LLVMIsAICmpInst(by) || !(whole || is_element(sums, by)))
      continue;
    place_before(cg, by);
    LLVMValueRef s = narrow_sum(r, 0);
    found = true;
    if (LLVMIsASIToFPInst(by) || LLVMIsAUIToFPInst(by)) {
      LLVMReplaceAllUsesWith(by, l_sitofp(cg->builder, s, LLVMTypeOf(by)));
      continue;
    }
    if (LLVMIsATruncInst(by) && LLVMTypeOf(by) == cg->t.i32) {
      LLVMReplaceAllUsesWith(by, s);
      continue;
    }
    set_operand(by, r->i,
                whole ? l_zext(cg->builder, s, cg->t.i64) : l_sext(cg->builder, s, cg->t.i64));
  }
  return found;
}

/* i + c, read where i is the number of an element, in 32 bits. */
static bool rewrite_neighbours(const Rounded *r, const Sums *sums) {
  LLVMBuilderRef b = r->cg->builder;
  bool found = false;
  for (unsigned k = 1; k < sums->n; k++) {
    const Sum *sum = &sums->list[k];
    Uses uses = uses_of(sum->v);
    for (unsigned u = 0; u < uses.n; u++) {
      LLVMValueRef by = uses.by[u];
      if (LLVMIsAICmpInst(by) || LLVMIsAPHINode(by) || !is_element(sums, by))
        continue;
      place_before(r->cg, by);
      LLVMValueRef s = l_sext(b, narrow_sum(r, 0), r->cg->t.i64);
      set_operand(by, sum->v, l_add_nsw(b, s, l_int(r->cg->t.i64, (uint64_t)sum->c)));
      found = true;
    }
  }
  return found;
}

/* --- sums behind guards ---
 *
 *   if 0 <= i + 1 < width: v += image[i + 1] * wx
 *
 * LLVM moves what is made of i in front of the guards. Where all that reads it is behind such, i
 * fits int32 there, and so it is made of i in 32 bits. */

/* Where the block runs, is `sum` from 0 on, and less than 2^31; or, if it is NULL, one of the sums?
 * Then i fits int32. */
static bool fits_by(const Rounded *r, const FnGraph *g, const Sums *sums, const Sum *sum,
                    LLVMBasicBlockRef block, LLVMBasicBlockRef to) {
  for (unsigned k = 0; k < sums->n; k++)
    if ((!sum || sum == &sums->list[k]) &&
        cg_nvptx_is_guarded(r->cg, g, sums->list[k].v, block, to))
      return true;
  return !sum && fits(r, g, sums, block, to);
}

/* Is v read only where that is so, or by operations on floats of which that holds? */
static bool is_read_in_guards(const Rounded *r, const FnGraph *g, const Sums *sums, const Sum *sum,
                              LLVMValueRef v, unsigned depth) {
  Uses uses = uses_of(v);
  if (!depth || uses.n == MOST_USES)
    return false;
  for (unsigned k = 0; k < uses.n; k++) {
    LLVMValueRef by = uses.by[k];
    LLVMBasicBlockRef block = LLVMGetInstructionParent(by);
    if (LLVMIsAPHINode(by)) {
      for (unsigned e = 0; e < LLVMCountIncoming(by); e++)
        if (LLVMGetIncomingValue(by, e) == v &&
            !fits_by(r, g, sums, sum, LLVMGetIncomingBlock(by, e), block))
          return false;
      continue;
    }
    bool computes = cg_is_op(by, LLVMFAdd) || cg_is_op(by, LLVMFSub) || cg_is_op(by, LLVMFMul);
    if (!fits_by(r, g, sums, sum, block, NULL) &&
        !(computes && is_read_in_guards(r, g, sums, sum, by, depth - 1)))
      return false;
  }
  return uses.n;
}

/* The low half of a sum, or its float, that is read behind guards only. */
static bool rewrite_early(const Rounded *r, const FnGraph *g, const Sums *sums) {
  enum { DEPTH = 4 };
  LLVMBuilderRef b = r->cg->builder;
  bool found = false;
  for (unsigned k = 0; k < sums->n; k++) {
    const Sum *sum = &sums->list[k];
    Uses uses = uses_of(sum->v);
    for (unsigned u = 0; u < uses.n; u++) {
      LLVMValueRef by = uses.by[u];
      bool low = LLVMIsATruncInst(by) && LLVMTypeOf(by) == r->cg->t.i32;
      if (!(low || LLVMIsASIToFPInst(by)) || !is_read_in_guards(r, g, sums, NULL, by, DEPTH))
        continue;
      bool fit = !sum->c || is_read_in_guards(r, g, sums, sum, by, DEPTH);
      if (!low && !fit) /* i fits, i + c may not */
        continue;
      place_before(r->cg, by);
      LLVMValueRef s = narrow_sum(r, 0), c = l_int(r->cg->t.i32, (uint64_t)sum->c);
      if (sum->c)
        s = fit ? l_add_nsw(b, s, c) : l_add(b, s, c);
      LLVMReplaceAllUsesWith(by, low ? s : l_sitofp(b, s, LLVMTypeOf(by)));
      found = true;
    }
  }
  return found;
}

/* 0 <= i + c < bound, both of which only that asks: of i saturated to int32, c added without a
 * sign. Beyond int32 the sum is beyond the bound, or negative, or wraps around to what is. */
static bool rewrite_pair(const Rounded *r, const Sum *sum, LLVMValueRef both) {
  Cg *cg = r->cg;
  LLVMValueRef parts[] = {LLVMGetOperand(both, 0), LLVMGetOperand(both, 1)};
  for (unsigned k = 0; k < 2; k++) {
    Compared from = cg_nvptx_compared(cg, sum->v, parts[k]),
             until = cg_nvptx_compared(cg, sum->v, parts[!k]);
    bool starts = (from.how == LLVMIntSGT && cg_is_number(from.bound, UINT64_MAX)) ||
                  (from.how == LLVMIntSGE && cg_is_number(from.bound, 0));
    if (!from.narrow || !until.narrow || !starts || until.how != LLVMIntSLT || until.range.lo < 0)
      continue;
    place_before(cg, both);
    LLVMValueRef s = narrow_sum(r, 0), end = until.narrow;
    if (sum->c) /* the freeze keeps it from being merged with a sum that cannot wrap around */
      s = l_add(cg->builder, l_freeze(cg->builder, s), l_int(cg->t.i32, (uint64_t)sum->c));
    if (LLVMIsASelectInst(both) && LLVMIsAInstruction(end)) /* it may be poison below 0 */
      end = l_freeze(cg->builder, end);
    LLVMReplaceAllUsesWith(both, l_icmp(cg->builder, LLVMIntULT, s, end));
    return true;
  }
  return false;
}

static bool rewrite_pairs(const Rounded *r, const Sum *sum) {
  bool found = false;
  Uses uses = uses_of(sum->v);
  for (unsigned k = 0; k < uses.n; k++) {
    LLVMValueRef both = cg_has_one_use(uses.by[k]) ? LLVMGetUser(LLVMGetFirstUse(uses.by[k]))
                                                   : NULL;
    found |= both && LLVMIsAICmpInst(uses.by[k]) && cg_is_both(both) && rewrite_pair(r, sum, both);
  }
  return found;
}

/* --- sums that may wrap around ---
 *
 *   if k >= 0 and k + 1 < n: v = (1 - part) * a[k] + part * a[k + 1]
 *
 * The greatest int64 and 1 is less than n. But a[k] has no element of that number, and what an
 * access without a check does that has none is not defined: so the condition may as well fail. */

/* Asks of the sums whether it matters that they wrap around. */
static void look_at_wraps(const Rounded *r, Sums *sums) {
  for (unsigned k = 1; k < sums->n; k++) {
    Sum *sum = &sums->list[k];
    Uses uses = uses_of(sum->v);
    sum->wraps = uses.n == MOST_USES;
    for (unsigned u = 0; u < uses.n && !sum->wraps; u++)
      sum->wraps = LLVMIsAICmpInst(uses.by[u]) && !is_element(sums, uses.by[u]) &&
                   !(is_less(cg_nvptx_compared(r->cg, sum->v, uses.by[u]).how) &&
                     cg_nvptx_leads_to_element(r->cg, uses.by[u], r->i));
  }
}

static bool rewrite_guards(const Rounded *r, const FnGraph *g) {
  Sums sums = sums_of(r);
  find_elements(r->cg, &sums);
  look_at_wraps(r, &sums);
  bool found = rewrite_early(r, g, &sums);
  found |= rewrite_guarded(r, g, &sums);
  found |= rewrite_neighbours(r, &sums);
  for (unsigned k = 0; k < sums.n; k++)
    found |= rewrite_pairs(r, &sums.list[k]);
  for (unsigned k = 0; k < sums.n; k++) {
    Uses uses = uses_of(sums.list[k].v);
    for (unsigned u = 0; u < uses.n; u++)
      found |= rewrite_comparison(r, &sums.list[k], uses.by[u]);
  }
  return found;
}

/* --- back to a float --- */

/* Are the number's uses differences from what was rounded, which are nan where it is? */
static bool is_subtracted(LLVMValueRef number, LLVMValueRef x) {
  Uses uses = uses_of(number);
  LLVMValueRef rounded = is_whole(x) ? LLVMGetOperand(x, 0) : x;
  bool all = uses.n < MOST_USES;
  for (unsigned k = 0; k < uses.n && all; k++)
    all = cg_is_op(uses.by[k], LLVMFSub) && LLVMGetOperand(uses.by[k], 0) == rounded &&
          LLVMGetOperand(uses.by[k], 1) == number;
  return all;
}

/* x, or the end of int64 beyond which it is. */
static LLVMValueRef within_int64(const Rounded *r, LLVMValueRef x) {
  LLVMTypeRef t = LLVMTypeOf(x);
  LLVMValueRef low[] = {x, LLVMConstReal(t, -END)};
  LLVMValueRef high[] = {call(r->cg, "llvm.maxnum", t, low, 2), LLVMConstReal(t, END)};
  return call(r->cg, "llvm.minnum", t, high, 2);
}

/* Float32 of the sum i + c: x + c is rounded like it. 0.0 is added to make -0.0 what 0 becomes. */
static bool rewrite_float(const Rounded *r, int64_t c, LLVMValueRef by) {
  Cg *cg = r->cg;
  LLVMBuilderRef b = cg->builder;
  LLVMTypeRef t = cg->t.f32;
  if (!LLVMIsASIToFPInst(by) || LLVMTypeOf(by) != t || LLVMTypeOf(r->x) != t)
    return false;
  place_before(cg, by);
  LLVMValueRef end = LLVMConstReal(t, c > 0 ? -END : END), x = r->x;
  x = is_whole(x) ? x : call(cg, "llvm.trunc", t, &x, 1);
  x = c ? l_select(b, is_far(r), end, x) : within_int64(r, x);
  if (c || !is_subtracted(by, r->x))
    x = l_select(b, r->nan, LLVMConstReal(t, 0.0), x);
  LLVMReplaceAllUsesWith(by, l_fadd(b, x, LLVMConstReal(t, (double)c)));
  return true;
}

/* --- low bits --- */

/* Of nan the conversion makes the number -2^63, whose low bits are those of 0. */
static bool rewrite_bits(const Rounded *r, LLVMValueRef by) {
  bool masks = cg_is_op(by, LLVMAnd) && LLVMIsAConstantInt(LLVMGetOperand(by, 1)) &&
               LLVMConstIntGetSExtValue(LLVMGetOperand(by, 1)) >= 0;
  if (!masks && !cg_is_op(by, LLVMTrunc))
    return false;
  LLVMSetOperand(by, 0, LLVMGetOperand(r->i, 2));
  return true;
}

/* --- conversions --- */

static bool rewrite_uses(const Rounded *r, LLVMValueRef sum, int64_t c) {
  bool found = false;
  Uses uses = uses_of(sum);
  for (unsigned k = 0; k < uses.n; k++) {
    found |= rewrite_float(r, c, uses.by[k]);
    if (!c && rewrite_low_byte(r, uses.by[k])) {
      found = true;
      continue;
    }
    if (!limit_of(uses.by[k], sum, "llvm.smax.i64") && !limit_of(uses.by[k], sum, "llvm.smin.i64"))
      continue;
    Uses outer = uses_of(uses.by[k]);
    for (unsigned n = 0; n < outer.n; n++)
      found |= rewrite_clamp(r, sum, c, uses.by[k], outer.by[n]);
  }
  return found;
}

static bool rewrite(const Rounded *r, const FnGraph *g) {
  bool found = rewrite_guards(r, g);
  found |= rewrite_uses(r, r->i, 0);
  Uses uses = uses_of(r->i);
  for (unsigned k = 0; k < uses.n; k++) {
    found |= rewrite_bits(r, uses.by[k]);
    LLVMValueRef by = uses.by[k], c = cg_is_op(by, LLVMAdd) ? LLVMGetOperand(by, 1) : NULL;
    if (!c || !LLVMIsAConstantInt(c) || LLVMGetIntTypeWidth(LLVMTypeOf(c)) != 64)
      continue;
    int64_t n = LLVMConstIntGetSExtValue(c);
    if (n && n >= -MOST_ADDED && n <= MOST_ADDED)
      found |= rewrite_uses(r, by, n);
  }
  return found;
}

/* Is v the selection of `none` for nan, else of `number`? */
static bool is_without_nan(LLVMValueRef v, LLVMValueRef x, LLVMValueRef none, LLVMValueRef number) {
  if (!LLVMIsASelectInst(v) || LLVMGetOperand(v, 1) != none || LLVMGetOperand(v, 2) != number)
    return false;
  LLVMValueRef c = LLVMGetOperand(v, 0);
  return LLVMIsAFCmpInst(c) && LLVMGetFCmpPredicate(c) == LLVMRealUNO && LLVMGetOperand(c, 0) == x;
}

bool cg_nvptx_is_conversion(LLVMValueRef i) {
  return LLVMIsACallInst(i) &&
         (cg_is_call_of(i, "llvm.nvvm.f2ll.rz") || cg_is_call_of(i, "llvm.nvvm.d2ll.rz"));
}

/* What an operation on v makes of the number n, if it is one through which LLVM moves a selection
 * of constants; else false. */
static bool apply(LLVMValueRef op, LLVMValueRef v, int64_t *n) {
  if (LLVMIsATruncInst(op))
    return *n >= 0 && *n < (int64_t)1 << (LLVMGetIntTypeWidth(LLVMTypeOf(op)) - 1);
  LLVMValueRef low = limit_of(op, v, "llvm.smax.i64"),
               high = upper_limit(op, v, l_int(LLVMTypeOf(op), (uint64_t)*n));
  LLVMValueRef by = cg_is_op(op, LLVMAdd) ? LLVMGetOperand(op, 1) : low ? low : high;
  if (!by || !LLVMIsAConstantInt(by))
    return false;
  int64_t c = LLVMConstIntGetSExtValue(by);
  *n = low ? (*n > c ? *n : c) : high ? (*n < c ? *n : c) : (int64_t)((uint64_t)*n + (uint64_t)c);
  return true;
}

/* The int64 that a conversion makes, with 0 for nan; NULL if there is none. LLVM selects after
 * operations with constants; the selection goes back to before them. */
static LLVMValueRef number_of(Cg *cg, LLVMValueRef conversion, LLVMValueRef x) {
  const int64_t exact = INT64_C(1) << 53; /* so far float64 has every integer */
  LLVMValueRef v = conversion, zero = LLVMConstNull(cg->t.i64);
  int64_t n = 0;
  for (Uses uses = uses_of(v); uses.n == 1; uses = uses_of(v)) {
    LLVMValueRef by = uses.by[0];
    LLVMValueRef none = LLVMIsASIToFPInst(v) ? LLVMConstReal(LLVMTypeOf(v), (double)n)
                                             : l_int(LLVMTypeOf(v), (uint64_t)n);
    if (n < -exact || n > exact)
      return NULL;
    if (!is_without_nan(by, x, none, v)) {
      if (LLVMTypeOf(v) != cg->t.i64 || !(LLVMIsASIToFPInst(by) || apply(by, v, &n)))
        return NULL;
      v = by;
      continue;
    }
    if (v == conversion)
      return by;
    LLVMValueRef first = uses_of(conversion).by[0];
    place_before(cg, LLVMGetNextInstruction(conversion));
    LLVMValueRef number = l_select(cg->builder, l_fcmp(cg->builder, LLVMRealUNO, x, x), zero,
                                   conversion);
    for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(first); k++)
      if (LLVMGetOperand(first, k) == conversion)
        LLVMSetOperand(first, k, number);
    LLVMReplaceAllUsesWith(by, v);
    LLVMInstructionEraseFromParent(by);
    return number;
  }
  return NULL;
}

/* An i that clamps of the float, or branches on it, let fit int32, as such; or its minima with
 * numbers that fit, if that is so of its lower end. */
static bool rewrite_bounded(const Rounded *r, const FnGraph *g) {
  FloatBounds bounds = cg_nvptx_float_bounds_in(g, r->x, LLVMGetInstructionParent(r->i));
  bool positive = bounds.lo > -1;
  if (trunc(bounds.lo) < INT32_MIN)
    return false;
  if (trunc(bounds.hi) <= INT32_MAX) {
    place_before(r->cg, LLVMGetNextInstruction(r->i));
    replace(r->cg, r->i, narrow_sum(r, 0), positive);
    return true;
  }
  bool found = false;
  Uses uses = uses_of(r->i);
  for (unsigned k = 0; k < uses.n; k++) {
    LLVMValueRef high = limit_of(uses.by[k], r->i, "llvm.smin.i64");
    LLVMValueRef narrow = high ? cg_nvptx_narrow_bound(r->cg, high) : NULL;
    if (!narrow)
      continue;
    place_before(r->cg, uses.by[k]);
    LLVMValueRef v = least(r->cg, narrow_sum(r, 0), narrow);
    replace(r->cg, uses.by[k], v, positive && cg_nvptx_range(high).lo >= 0);
    found = true;
  }
  return found;
}

static bool rewrite_conversion(Cg *cg, LLVMValueRef conversion, const FnGraph *g) {
  LLVMValueRef x = LLVMGetOperand(conversion, 0), i = number_of(cg, conversion, x);
  if (!i) { /* LLVM asks no number whether it is one */
    Rounded of_number = {cg, x, NULL, conversion};
    return cg_nvptx_float_bounds_in(g, x, LLVMGetInstructionParent(conversion)).number &&
           rewrite_bounded(&of_number, g);
  }
  Rounded r = {cg, x, LLVMGetOperand(i, 0), i};
  Uses uses = uses_of(conversion);
  for (unsigned k = 0; k < uses.n; k++) /* the same bits, which rewrite_bits asks of it again */
    if (cg_is_op(uses.by[k], LLVMTrunc))
      LLVMSetOperand(uses.by[k], 0, i);
  bool bounded = rewrite_bounded(&r, g);
  return rewrite(&r, g) || bounded;
}

LLVMValueRef cg_nvptx_converted(LLVMValueRef v) {
  LLVMValueRef of = LLVMIsASelectInst(v) ? LLVMGetOperand(v, 2) : NULL;
  return of && cg_nvptx_is_conversion(of) &&
                 is_without_nan(v, LLVMGetOperand(of, 0), LLVMConstNull(LLVMTypeOf(v)), of)
             ? of
             : NULL;
}

/* The float of which v is made by way of an int64 and without its sign's bit, by steps that leave 0
 * as it is; else NULL. */
static LLVMValueRef made_of_low_bits(LLVMValueRef v) {
  for (unsigned depth = 0; depth < MOST_STEPS; depth++) {
    bool short_ = LLVMIsATruncInst(v) && !LLVMGetNUW(v) && !LLVMGetNSW(v);
    bool step = short_ || cg_is_extension(v);
    LLVMValueRef by = LLVMIsABinaryOperator(v) ? LLVMGetOperand(v, 1) : NULL;
    if (by && LLVMIsAConstantInt(by)) {
      short_ = cg_is_op(v, LLVMAnd) && LLVMConstIntGetSExtValue(by) >= 0;
      step = short_ || cg_is_op(v, LLVMMul) || cg_is_op(v, LLVMShl);
    }
    if (!step)
      return NULL;
    v = LLVMGetOperand(v, 0);
    if (short_ && cg_nvptx_is_conversion(v))
      return LLVMGetOperand(v, 0);
  }
  return NULL;
}

LLVMValueRef cg_nvptx_zero_of_nan(LLVMValueRef v) {
  LLVMValueRef of = LLVMIsASelectInst(v) ? LLVMGetOperand(v, 2) : NULL,
               x = of && LLVMIsAInstruction(of) ? made_of_low_bits(of) : NULL;
  if (!x || !is_without_nan(v, x, LLVMConstNull(LLVMTypeOf(v)), of))
    return NULL;
  LLVMValueRef with = LLVMGetOperand(LLVMGetOperand(v, 0), 1);
  return with == x || (LLVMIsAConstantFP(with) && LLVMIsNull(with)) ? of : NULL;
}

/* --- the pass --- */

static bool rewrite_in(Cg *cg, LLVMValueRef f) {
  bool found = false;
  FnGraph g = {0};
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
      if (cg_nvptx_is_conversion(i)) {
        if (!g.len) {
          g = graph_of(&cg->cx->arena, f, NULL);
          graph_loops(&g);
        }
        found |= rewrite_conversion(cg, i, &g);
      }
  return found;
}

void cg_nvptx_rounded(Cg *cg) {
  cg_nvptx_unroll_rounded(cg);
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f) && rewrite_in(cg, f))
      cg_run_function_passes(cg, f, "early-cse,dce");
}
