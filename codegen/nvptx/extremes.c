/* NVPTX extremes: minima and maxima of float32 as one instruction each.
 *
 *   best = max(best, x)  # x if x > best else best
 *
 * keeps best where x is nan, and so does the instruction. Where best is nan Python keeps it too,
 * and the instruction would give x: so LLVM and ptxas make a comparison and a selection, one after
 * the other, of each. But what begins with a number, such as -inf, and becomes another value only
 * where that is greater, is never nan. Of 0.0 and -0.0 the instruction may give the other one
 * (docs/guide/deviations.md).
 *
 * An extreme's place needs the comparison all the same. But the next number then waits for one
 * instruction, not for a comparison and a selection.
 *
 * In: a module behind coarsening. */
#include "codegen/llvm/match.h"
#include "codegen/llvm/valuemap.h"
#include "codegen/nvptx/nvptx.h"

enum { MOST_REACHED = 256 }; /* values from which one is made */

typedef struct Extremes {
  Cg *cg;
  ValueMap known; /* 1: never nan; 0: that was not found */
  LLVMValueRef reached[MOST_REACHED];
  unsigned nreached;
  VEC(LLVMValueRef) found;
} Extremes;

/* A selection between the two numbers that are compared. */
typedef struct Extreme {
  LLVMValueRef kept, other; /* kept: what it gives if one is nan */
  bool least;
} Extreme;

static bool read_extreme(LLVMValueRef v, Extreme *e) {
  LLVMValueRef compare = cg_is_op(v, LLVMSelect) ? LLVMGetOperand(v, 0) : NULL;
  if (!compare || !cg_is_op(compare, LLVMFCmp))
    return false;
  LLVMValueRef x = LLVMGetOperand(compare, 0), yes = LLVMGetOperand(v, 1),
               no = LLVMGetOperand(v, 2);
  bool same = yes == x && no == LLVMGetOperand(compare, 1);
  if (!same && !(no == x && yes == LLVMGetOperand(compare, 1)))
    return false;
  LLVMRealPredicate p = LLVMGetFCmpPredicate(compare);
  bool less = p == LLVMRealOLT || p == LLVMRealOLE || p == LLVMRealULT || p == LLVMRealULE;
  bool greater = p == LLVMRealOGT || p == LLVMRealOGE || p == LLVMRealUGT || p == LLVMRealUGE;
  bool ordered = p == LLVMRealOLT || p == LLVMRealOLE || p == LLVMRealOGT || p == LLVMRealOGE;
  *e = (Extreme){ordered ? no : yes, ordered ? yes : no, less == same};
  return less || greater;
}

/* --- what is never nan --- */

static bool is_nan(LLVMValueRef constant) {
  LLVMBool loses;
  double d = LLVMConstRealGetDouble(constant, &loses);
  return d != d;
}

/* Notes v as one of the values that must not be nan. False if there are too many, or if it was
 * found to be one that may be. */
static bool reach(Extremes *x, LLVMValueRef v) {
  uint32_t known = valuemap_get(&x->known, v);
  if (known != VALUEMAP_NONE)
    return known;
  for (unsigned k = 0; k < x->nreached; k++)
    if (x->reached[k] == v)
      return true;
  if (x->nreached == MOST_REACHED)
    return false;
  x->reached[x->nreached++] = v;
  return true;
}

/* Notes what must not be nan for v not to be. False: v may be nan. */
static bool expand(Extremes *x, LLVMValueRef v) {
  Extreme e;
  if (LLVMIsAConstantFP(v))
    return !is_nan(v);
  if (LLVMIsPoison(v) || cg_is_op(v, LLVMSIToFP) || cg_is_op(v, LLVMUIToFP))
    return true;
  if (read_extreme(v, &e))
    return reach(x, e.kept);
  if (cg_is_op(v, LLVMFNeg) || cg_is_call_of_any(v, "llvm.fabs."))
    return reach(x, LLVMGetOperand(v, 0));
  if (cg_is_op(v, LLVMSelect))
    return reach(x, LLVMGetOperand(v, 1)) && reach(x, LLVMGetOperand(v, 2));
  if (!LLVMIsAPHINode(v))
    return false;
  for (unsigned k = 0; k < LLVMCountIncoming(v); k++)
    if (!reach(x, LLVMGetIncomingValue(v, k)))
      return false;
  return true;
}

/* Phis may be made of themselves: what all of them begin with decides. */
static bool is_never_nan(Extremes *x, LLVMValueRef v) {
  x->nreached = 0;
  bool right = reach(x, v);
  for (unsigned k = 0; right && k < x->nreached; k++)
    right = expand(x, x->reached[k]);
  for (unsigned k = 0; k < (right ? x->nreached : x->nreached > 0); k++)
    valuemap_set(&x->known, x->reached[k], right);
  return right;
}

/* --- the pass --- */

static void find(Extremes *x, LLVMValueRef i) {
  Extreme e;
  if (LLVMTypeOf(i) == x->cg->t.f32 && read_extreme(i, &e) && is_never_nan(x, e.kept))
    VEC_PUSH(&x->cg->cx->arena, &x->found, i);
}

static void replace(Cg *cg, LLVMValueRef i) {
  Extreme e;
  LLVMValueRef compare = LLVMGetOperand(i, 0);
  if (!read_extreme(i, &e))
    return;
  LLVMPositionBuilderBefore(cg->builder, i);
  LLVMSetCurrentDebugLocation2(cg->builder, LLVMInstructionGetDebugLoc(i));
  LLVMValueRef fn = cg_intrinsic_fn(cg, e.least ? "llvm.minnum" : "llvm.maxnum", &cg->t.f32, 1);
  LLVMReplaceAllUsesWith(i, l_call(cg->builder, fn, (LLVMValueRef[]){e.kept, e.other}, 2));
  LLVMInstructionEraseFromParent(i);
  if (!LLVMGetFirstUse(compare))
    LLVMInstructionEraseFromParent(compare);
}

void cg_nvptx_extremes(Cg *cg) {
  Extremes x = {.cg = cg, .known = {.arena = &cg->cx->arena}};
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
        find(&x, i);
  for (uint32_t k = 0; k < x.found.len; k++)
    replace(cg, x.found.data[k]);
}
