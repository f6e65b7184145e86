/* NVPTX differences: x - (k + 1), x - (k + 2), … as distances from x - k.
 *
 *   for k in range(n):                          # unrolled: k, k + 1, k + 2, k + 3
 *       total += taps[k] * x[base - k]
 *
 * Each iteration's place is a difference of its own, of a sum that LLVM has made for the iteration,
 * and takes two instructions. But it is a constant away from the first iteration's place.
 *
 * In: functions as they go to the code generator. Out: where x - k is known already, and none of
 * the three wraps around, x - (k + c) is (x - k) + -c, which does not either: x - k is a number of
 * its type, and so is the whole. */
#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"

/* Of k + c, which does not wrap around, k. */
static LLVMValueRef without_constant(LLVMValueRef v, LLVMValueRef *c) {
  bool sum = (cg_is_op(v, LLVMAdd) && LLVMGetNSW(v)) || cg_is_disjoint_or(v);
  if (!sum || !LLVMIsAConstantInt(*c = LLVMGetOperand(v, 1)))
    return NULL;
  return LLVMGetOperand(v, 0);
}

static bool is_exact(LLVMValueRef v) { return cg_is_op(v, LLVMSub) && LLVMGetNSW(v); }

/* x - k, of which the block of that node knows; NULL: there is none. */
static LLVMValueRef known(const FnGraph *g, const ValueMap *seen, LLVMValueRef x, LLVMValueRef k,
                          uint32_t node) {
  for (LLVMUseRef u = LLVMIsAConstant(x) ? NULL : LLVMGetFirstUse(x); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef i = LLVMGetUser(u);
    if (is_exact(i) && LLVMGetOperand(i, 0) == x && LLVMGetOperand(i, 1) == k &&
        valuemap_get(seen, i) != VALUEMAP_NONE && graph_dominates(g, valuemap_get(seen, i), node))
      return i;
  }
  return NULL;
}

static void visit(Cg *cg, const FnGraph *g, ValueMap *seen, uint32_t node) {
  for (LLVMValueRef i = g->nodes[node].first, next; i; i = next) {
    next = LLVMGetNextInstruction(i);
    if (!is_exact(i))
      continue;
    LLVMValueRef c, k = without_constant(LLVMGetOperand(i, 1), &c);
    LLVMValueRef first = k ? known(g, seen, LLVMGetOperand(i, 0), k, node) : NULL;
    if (!first || LLVMConstIntGetSExtValue(c) <= 0) {
      valuemap_set(seen, i, node);
      continue;
    }
    LLVMPositionBuilderBefore(cg->builder, i);
    LLVMSetCurrentDebugLocation2(cg->builder, LLVMInstructionGetDebugLoc(i));
    LLVMReplaceAllUsesWith(i, l_add_nsw(cg->builder, first, LLVMConstNeg(c)));
    LLVMInstructionEraseFromParent(i);
  }
}

void cg_nvptx_differences(Cg *cg) {
  FnGraph g;
  for (LLVMValueRef f = NULL; graph_next_function(cg, &f, &g);) {
    ValueMap seen = {.arena = &cg->cx->arena};
    for (uint32_t n = 0; n < g.len; n++)
      visit(cg, &g, &seen, n);
  }
}
