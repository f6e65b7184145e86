/* NVPTX wide extremes: minima and maxima of 64 bits as selections, where their numbers are compared
 * anyway.
 *
 *   if distance < best:
 *       best = distance
 *       label = k
 *
 * LLVM makes a minimum of the first, and a selection by the comparison of the second. ptxas
 * compares both halves for each of the two: four instructions, where selections of both halves by
 * one comparison need two.
 *
 * In: a module that only the code generator is still to see. Out: selections of each half by a
 * comparison in front of them in their block. Of selections of 64 bits ptxas makes minima again,
 * and LLVM of halves that are not hidden selections of 64 bits. */
#include "codegen/llvm/compat.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"

enum { HALF = 32 };

typedef struct Extreme {
  LLVMValueRef a, b;
  bool least;
} Extreme;

static bool read_extreme(const Cg *cg, LLVMValueRef i, Extreme *e) {
  if (!LLVMIsACallInst(i) || LLVMTypeOf(i) != cg->t.i64)
    return false;
  bool least = cg_is_call_of(i, "llvm.smin.i64");
  if (!least && !cg_is_call_of(i, "llvm.smax.i64"))
    return false;
  *e = (Extreme){LLVMGetOperand(i, 0), LLVMGetOperand(i, 1), least};
  return true;
}

/* Does the comparison say that the first of the two is the lesser one, or the second? */
static bool is_of(LLVMValueRef c, const Extreme *e, bool *first_less) {
  LLVMValueRef a = LLVMGetOperand(c, 0), b = LLVMGetOperand(c, 1);
  bool same = a == e->a && b == e->b, swapped = a == e->b && b == e->a, less;
  switch (LLVMGetICmpPredicate(c)) {
  case LLVMIntSLT:
  case LLVMIntSLE: less = true; break;
  case LLVMIntSGT:
  case LLVMIntSGE: less = false; break;
  default: return false;
  }
  *first_less = less == same;
  return same != swapped;
}

/* Such a comparison in front of i in its block, which something else reads too; NULL: none. */
static LLVMValueRef comparison_of(LLVMValueRef i, const Extreme *e, bool *first_less) {
  for (LLVMUseRef u = LLVMGetFirstUse(e->a); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef c = LLVMGetUser(u);
    if (!LLVMIsAICmpInst(c) || LLVMGetInstructionParent(c) != LLVMGetInstructionParent(i) ||
        !LLVMGetFirstUse(c) || !is_of(c, e, first_less))
      continue;
    LLVMValueRef at = c;
    while (at && at != i)
      at = LLVMGetNextInstruction(at);
    if (at)
      return c;
  }
  return NULL;
}

static LLVMValueRef half_of(Cg *cg, LLVMValueRef v, bool upper) {
  LLVMBuilderRef b = cg->builder;
  return l_trunc(b, upper ? l_lshr(b, v, l_int(cg->t.i64, HALF)) : v, cg->t.i32);
}

static LLVMValueRef chosen_half(Cg *cg, LLVMValueRef c, LLVMValueRef yes, LLVMValueRef no,
                                bool upper) {
  LLVMBuilderRef b = cg->builder;
  LLVMValueRef half = l_select(b, c, half_of(cg, yes, upper), half_of(cg, no, upper));
  return l_zext(b, cg_nvptx_hidden(cg, half), cg->t.i64);
}

static void select_extreme(Cg *cg, LLVMValueRef i) {
  Extreme e;
  bool first_less;
  LLVMValueRef c = read_extreme(cg, i, &e) ? comparison_of(i, &e, &first_less) : NULL;
  if (!c)
    return;
  LLVMBuilderRef b = cg->builder;
  LLVMPositionBuilderBefore(b, i);
  LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(i));
  bool first = first_less == e.least;
  LLVMValueRef yes = first ? e.a : e.b, no = first ? e.b : e.a,
               low = chosen_half(cg, c, yes, no, false), high = chosen_half(cg, c, yes, no, true);
  LLVMReplaceAllUsesWith(i, l_or(b, low, l_shl(b, high, l_int(cg->t.i64, HALF))));
  LLVMInstructionEraseFromParent(i);
}

void cg_nvptx_wide_extremes(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
        next = LLVMGetNextInstruction(i);
        select_extreme(cg, i);
      }
}
