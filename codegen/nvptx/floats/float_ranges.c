/* NVPTX float ranges: comparisons of floats that are made of integers, where these decide them.
 *
 *   u = float32((state >> 8) + 1) * float32(2**-24)     # 2**-24 to 1
 *   t -= math.log(u) / rate
 *
 * A logarithm asks whether its argument is a small number that it must scale, infinite or 0, and
 * chooses by each. Of a number in a range it is known: of random numbers, which are made so, of
 * counts, of shares. LLVM knows that u is not negative and no nan, and no more.
 *
 * Ranges are those of integers (value_ranges.h), converted, then scaled, added to and chosen from.
 * Conversions, products and sums round monotonically, so that the ends of a range are what its ends
 * become, rounded as the operation rounds them. Of a sum that may be contracted with a product that
 * holds only for the rounded product: it has no range. Nor has what may be reassociated, what may
 * overflow, or has an end that is too small for a normal number, which may be flushed to 0.
 *
 * In: functions after LLVM's passes. Out: selections by such comparisons are what they choose. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "codegen/llvm/match.h"
#include "codegen/nvptx/ranges/float_bounds.h"
#include "codegen/nvptx/nvptx.h"

enum { MOST_OPERATIONS = 6 }; /* one behind the other, of a float */

typedef struct Floats { /* no nan */
  double lo, hi;
} Floats;

static bool is_short(LLVMValueRef v) { return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMFloatTypeKind; }

static bool is_float(LLVMValueRef v) {
  return is_short(v) || LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMDoubleTypeKind;
}

/* --- ranges --- */

static bool is_end(double x, bool is_short_one) {
  double least = is_short_one ? FLT_MIN : DBL_MIN;
  return isfinite(x) && (x == 0 || fabs(x) >= least);
}

static bool has_ends(LLVMValueRef v, const Floats *r) {
  return is_end(r->lo, is_short(v)) && is_end(r->hi, is_short(v));
}

static void include(Floats *r, double x) {
  r->lo = x < r->lo ? x : r->lo;
  r->hi = x > r->hi ? x : r->hi;
}

/* As the operation rounds it, once: of float32 in float32. */
static double rounded(LLVMValueRef v, double a, double b) {
  float x = (float)a, y = (float)b;
  switch (LLVMGetInstructionOpcode(v)) {
  case LLVMFAdd: return is_short(v) ? (double)(x + y) : a + b;
  case LLVMFSub: return is_short(v) ? (double)(x - y) : a - b;
  default: return is_short(v) ? (double)(x * y) : a * b;
  }
}

static bool range_of(LLVMValueRef v, Floats *r, unsigned depth);

static bool of_integer(LLVMValueRef v, Floats *r) {
  FloatBounds b = cg_nvptx_bounds_of_integer(v);
  *r = (Floats){b.lo, b.hi};
  return b.number;
}

/* May a sum of it be contracted? */
static bool is_product(LLVMValueRef v, unsigned depth) {
  if (!depth--)
    return true;
  if (cg_is_op(v, LLVMSelect))
    return is_product(LLVMGetOperand(v, 1), depth) || is_product(LLVMGetOperand(v, 2), depth);
  return cg_is_op(v, LLVMFMul) ||
         (cg_is_op(v, LLVMFPExt) && is_product(LLVMGetOperand(v, 0), depth));
}

static bool of_operation(LLVMValueRef v, Floats *r, unsigned depth) {
  LLVMValueRef x = LLVMGetOperand(v, 0), y = LLVMGetOperand(v, 1);
  Floats a, b;
  bool sum = !cg_is_op(v, LLVMFMul);
  if (LLVMGetFastMathFlags(v) & LLVMFastMathAllowReassoc ||
      (sum && (is_product(x, depth) || is_product(y, depth))) || !range_of(x, &a, depth) ||
      !range_of(y, &b, depth))
    return false;
  *r = (Floats){INFINITY, -INFINITY};
  for (unsigned k = 0; k < 4; k++)
    include(r, rounded(v, k & 1 ? a.hi : a.lo, k & 2 ? b.hi : b.lo));
  return true;
}

static bool of_select(LLVMValueRef v, Floats *r, unsigned depth) {
  Floats no;
  if (!range_of(LLVMGetOperand(v, 1), r, depth) || !range_of(LLVMGetOperand(v, 2), &no, depth))
    return false;
  include(r, no.lo);
  include(r, no.hi);
  return true;
}

static bool of_constant(LLVMValueRef v, Floats *r) {
  LLVMBool lost;
  r->lo = r->hi = LLVMConstRealGetDouble(v, &lost);
  return !lost;
}

/* The numbers that v can be; false: any, or a nan. */
static bool range_of(LLVMValueRef v, Floats *r, unsigned depth) {
  bool known = false;
  if (!is_float(v) || !depth--)
    return false;
  if (LLVMIsAConstantFP(v)) {
    known = of_constant(v, r);
  } else if (LLVMIsAInstruction(v)) {
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMUIToFP:
    case LLVMSIToFP: known = of_integer(v, r); break;
    case LLVMFAdd:
    case LLVMFSub:
    case LLVMFMul: known = of_operation(v, r, depth); break;
    case LLVMSelect: known = of_select(v, r, depth); break;
    case LLVMFPExt: known = range_of(LLVMGetOperand(v, 0), r, depth); break;
    default: break;
    }
  }
  return known && has_ends(v, r);
}

/* --- comparisons --- */

typedef enum Answer { UNKNOWN = -1, NO, YES } Answer;

static Answer less(double lo, double hi, double than_lo, double than_hi) {
  return hi < than_lo ? YES : lo >= than_hi ? NO : UNKNOWN;
}

static Answer opposite(Answer a) { return a == UNKNOWN ? a : a == YES ? NO : YES; }

static Answer equal(const Floats *a, const Floats *b) {
  return a->hi < b->lo || b->hi < a->lo ? NO : UNKNOWN;
}

static Answer of_floats(LLVMValueRef compare) {
  Floats a, b;
  if (!range_of(LLVMGetOperand(compare, 0), &a, MOST_OPERATIONS) ||
      !range_of(LLVMGetOperand(compare, 1), &b, MOST_OPERATIONS))
    return UNKNOWN;
  switch (LLVMGetFCmpPredicate(compare)) {
  case LLVMRealOLT:
  case LLVMRealULT: return less(a.lo, a.hi, b.lo, b.hi);
  case LLVMRealOGT:
  case LLVMRealUGT: return less(b.lo, b.hi, a.lo, a.hi);
  case LLVMRealOGE:
  case LLVMRealUGE: return opposite(less(a.lo, a.hi, b.lo, b.hi));
  case LLVMRealOLE:
  case LLVMRealULE: return opposite(less(b.lo, b.hi, a.lo, a.hi));
  case LLVMRealOEQ:
  case LLVMRealUEQ: return equal(&a, &b);
  case LLVMRealONE:
  case LLVMRealUNE: return opposite(equal(&a, &b));
  default: return UNKNOWN;
  }
}

/* The bits of positive floats are in the order of these: is a float32 infinite or nan? */
static Answer of_bits(LLVMValueRef compare) {
  LLVMValueRef bits = LLVMGetOperand(compare, 0), n = LLVMGetOperand(compare, 1);
  Floats r;
  uint32_t lo, hi;
  if (!cg_is_op(bits, LLVMBitCast) || !LLVMIsAConstantInt(n) || cg_int_width(n) != 32 ||
      !is_short(LLVMGetOperand(bits, 0)) ||
      !range_of(LLVMGetOperand(bits, 0), &r, MOST_OPERATIONS) || r.lo <= 0)
    return UNKNOWN;
  memcpy(&lo, &(float){(float)r.lo}, sizeof lo);
  memcpy(&hi, &(float){(float)r.hi}, sizeof hi);
  double with = (double)LLVMConstIntGetZExtValue(n);
  switch (LLVMGetICmpPredicate(compare)) {
  case LLVMIntULT: return less(lo, hi, with, with);
  case LLVMIntUGE: return opposite(less(lo, hi, with, with));
  case LLVMIntUGT: return less(with, with, lo, hi);
  case LLVMIntULE: return opposite(less(with, with, lo, hi));
  default: return UNKNOWN;
  }
}

/* Each selection by the comparison is one of its operands. */
static void choose(LLVMValueRef compare, Answer answer) {
  for (LLVMUseRef u = LLVMGetFirstUse(compare), next; u; u = next) {
    LLVMValueRef user = LLVMGetUser(u);
    next = LLVMGetNextUse(u);
    if (cg_is_op(user, LLVMSelect) && LLVMGetOperand(user, 0) == compare)
      LLVMReplaceAllUsesWith(user, LLVMGetOperand(user, answer == YES ? 1 : 2));
  }
}

void cg_nvptx_float_ranges(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
        Answer answer = cg_is_op(i, LLVMFCmp)   ? of_floats(i)
                        : cg_is_op(i, LLVMICmp) ? of_bits(i)
                                                : UNKNOWN;
        if (answer != UNKNOWN)
          choose(i, answer);
      }
}
