/* NVPTX float bounds: what clamps and branches say of a float, float32 or float64.
 *
 *   y = min(max(y, 0.0), float32(rows - 1))
 *
 * Python's minimum is a selection by a comparison, which is false for nan: y is from 0 to what
 * float32(rows - 1) can be, or nan. Of an operation that is not known here anything may come. */
#include "codegen/nvptx/ranges/float_bounds.h"

#include <math.h>

#include "codegen/llvm/match.h"
#include "codegen/nvptx/ranges/value_ranges.h"

enum { MOST_OPERATIONS = 6, MOST_BRANCHES = 8 }; /* one behind the other */

static const FloatBounds any = {-INFINITY, INFINITY, false};

static FloatBounds bounds(LLVMValueRef v, unsigned depth);

static bool is_float32(LLVMValueRef v) {
  return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMFloatTypeKind;
}

static bool is_wide(LLVMValueRef v) {
  return is_float32(v) || LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMDoubleTypeKind;
}

/* Rounding keeps the order. */
FloatBounds cg_nvptx_bounds_of_integer(LLVMValueRef v) {
  LLVMValueRef i = LLVMGetOperand(v, 0);
  Interval n = cg_nvptx_range(i);
  unsigned bits = cg_int_width(i);
  if (!bits || bits > 64 || !is_wide(v)) /* those of 16 bits may become infinite */
    return any;
  if (cg_is_op(v, LLVMUIToFP) && n.lo < 0)
    n = (Interval){0, ((IrWide)1 << bits) - 1};
  return is_float32(v) ? (FloatBounds){(float)n.lo, (float)n.hi, true}
                       : (FloatBounds){(double)n.lo, (double)n.hi, true};
}

/* Is it false where an operand is nan? */
static bool is_ordered(LLVMRealPredicate how) {
  return how == LLVMRealOLT || how == LLVMRealOLE || how == LLVMRealOGT || how == LLVMRealOGE;
}

/* v where a comparison with another float holds, or does not. Where that may be because the other
 * is nan, nothing is known. */
static FloatBounds where(FloatBounds v, LLVMRealPredicate how, bool holds, FloatBounds with) {
  if (is_ordered(how) != holds && !with.number)
    return v;
  bool below = how == LLVMRealOLT || how == LLVMRealOLE || how == LLVMRealULT || how == LLVMRealULE,
       above = how == LLVMRealOGT || how == LLVMRealOGE || how == LLVMRealUGT || how == LLVMRealUGE;
  if (!below && !above)
    return v;
  v.number |= is_ordered(how) == holds;
  if (below == holds)
    v.hi = fmin(v.hi, with.hi);
  else
    v.lo = fmax(v.lo, with.lo);
  return v;
}

static LLVMRealPredicate swapped(LLVMRealPredicate how) {
  switch (how) {
  case LLVMRealOLT: return LLVMRealOGT;
  case LLVMRealOLE: return LLVMRealOGE;
  case LLVMRealULT: return LLVMRealUGT;
  case LLVMRealULE: return LLVMRealUGE;
  case LLVMRealOGT: return LLVMRealOLT;
  case LLVMRealOGE: return LLVMRealOLE;
  case LLVMRealUGT: return LLVMRealULT;
  case LLVMRealUGE: return LLVMRealULE;
  default: return how;
  }
}

/* The bounds of v where a condition holds, or does not. */
static FloatBounds behind(FloatBounds b, LLVMValueRef v, LLVMValueRef condition, bool holds,
                          unsigned depth) {
  if (depth && (holds ? cg_is_both(condition) : cg_is_either(condition))) {
    b = behind(b, v, LLVMGetOperand(condition, 0), holds, depth - 1);
    return behind(b, v, cg_second_condition(condition), holds, depth - 1);
  }
  if (!LLVMIsAFCmpInst(condition))
    return b;
  LLVMRealPredicate how = LLVMGetFCmpPredicate(condition);
  for (unsigned k = 0; k < 2; k++)
    if (LLVMGetOperand(condition, k) == v)
      b = where(b, k ? swapped(how) : how, holds, bounds(LLVMGetOperand(condition, !k), depth));
  return b;
}

/* Of a selection by a comparison of what it chooses. */
static FloatBounds of_choice(LLVMValueRef condition, LLVMValueRef v, bool holds, unsigned depth) {
  FloatBounds b = bounds(v, depth);
  return LLVMIsAFCmpInst(condition) ? behind(b, v, condition, holds, depth) : b;
}

static FloatBounds of_selection(LLVMValueRef v, unsigned depth) {
  LLVMValueRef condition = LLVMGetOperand(v, 0);
  FloatBounds yes = of_choice(condition, LLVMGetOperand(v, 1), true, depth),
              no = of_choice(condition, LLVMGetOperand(v, 2), false, depth);
  return (FloatBounds){fmin(yes.lo, no.lo), fmax(yes.hi, no.hi), yes.number && no.number};
}

static FloatBounds of_call(LLVMValueRef v, unsigned depth) {
  static const char *const rounds[] = {"llvm.floor.f", "llvm.ceil.f", "llvm.trunc.f", "llvm.rint.f",
                                       "llvm.roundeven.f"};
  for (size_t k = 0; k < sizeof rounds / sizeof *rounds; k++)
    if (cg_is_call_of_any(v, rounds[k])) {
      FloatBounds b = bounds(LLVMGetOperand(v, 0), depth);
      return (FloatBounds){floor(b.lo), ceil(b.hi), b.number};
    }
  return any;
}

static FloatBounds bounds(LLVMValueRef v, unsigned depth) {
  LLVMBool lost = false;
  if (LLVMIsAConstantFP(v)) {
    double x = LLVMConstRealGetDouble(v, &lost);
    return lost || isnan(x) ? any : (FloatBounds){x, x, true};
  }
  if (!depth-- || !LLVMIsAInstruction(v))
    return any;
  switch (LLVMGetInstructionOpcode(v)) {
  case LLVMUIToFP:
  case LLVMSIToFP: return cg_nvptx_bounds_of_integer(v);
  case LLVMSelect: return of_selection(v, depth);
  case LLVMFPExt: return bounds(LLVMGetOperand(v, 0), depth);
  case LLVMCall: return of_call(v, depth);
  default: return any;
  }
}

FloatBounds cg_nvptx_float_bounds(LLVMValueRef v) { return bounds(v, MOST_OPERATIONS); }

FloatBounds cg_nvptx_float_bounds_in(const FnGraph *g, LLVMValueRef v, LLVMBasicBlockRef block) {
  FloatBounds b = cg_nvptx_float_bounds(v);
  uint32_t at = graph_number(g, block);
  for (unsigned n = 0; n < MOST_BRANCHES && at != GRAPH_NONE && g->nodes[at].npred == 1; n++) {
    const GraphNode *from = &g->nodes[g->nodes[at].pred[0]];
    LLVMValueRef condition =
        from->nsucc == 2 && LLVMIsABranchInst(from->last) ? LLVMGetCondition(from->last) : NULL;
    if (condition)
      b = behind(b, v, condition, from->succ[0] == at, MOST_OPERATIONS);
    at = g->nodes[at].pred[0];
  }
  return b;
}
