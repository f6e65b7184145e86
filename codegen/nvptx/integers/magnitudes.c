/* NVPTX magnitudes: |d| <= g, where a loop does not change g, as one comparison without a sign.
 *
 *   for c in range(col - reach, col + reach + 1):
 *     if abs(c - col) > guard: …                  # (unsigned)(c - col + guard) >= 2 * guard + 1
 *
 * A magnitude takes a negation and a maximum, and LLVM's code generator makes a third operation of
 * two of them, the larger one. The sum with g goes into the difference that d nearly always is, and
 * a predicate that is there already into the comparison.
 *
 * In: a module that only the code generator is still to see. Out: such comparisons of magnitudes
 * that nothing else reads, of numbers that have one (not the least), with what is computed in front
 * of the loop, where 2 * g + 1, or 0 if g is negative, goes as well. */
#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"
#include "codegen/nvptx/ranges/value_ranges.h"

/* Of |d|, d; NULL: v is none, or the least number may have come in. */
static LLVMValueRef signed_one(LLVMValueRef v) {
  if (!cg_is_call_of_any(v, "llvm.abs."))
    return NULL;
  LLVMValueRef d = LLVMGetOperand(v, 0);
  unsigned bits = cg_int_width(v);
  bool has = !LLVMIsNull(LLVMGetOperand(v, 1)) || cg_nvptx_range(d).lo > cg_nvptx_numbers(bits).lo;
  return has && (bits == 32 || bits == 64) ? d : NULL;
}

static bool has_sign(LLVMIntPredicate how) {
  return how == LLVMIntSLT || how == LLVMIntSLE || how == LLVMIntSGT || how == LLVMIntSGE;
}

/* The operand of a comparison that is a magnitude; 2: neither, or the loop changes the other. */
static unsigned magnitude_of(const FnGraph *g, uint32_t loop, LLVMValueRef compare) {
  for (unsigned side = 0; side < 2; side++) {
    LLVMValueRef most = LLVMGetOperand(compare, !side);
    if (signed_one(LLVMGetOperand(compare, side)) && !LLVMIsAConstant(most) &&
        !graph_in_loop(g, loop, most))
      return side;
  }
  return 2;
}

static bool is_such(const FnGraph *g, uint32_t loop, LLVMValueRef i) {
  return LLVMIsAICmpInst(i) && has_sign(LLVMGetICmpPredicate(i)) && magnitude_of(g, loop, i) < 2;
}

static bool is_only_compared(const FnGraph *g, uint32_t loop, LLVMValueRef magnitude) {
  for (LLVMUseRef u = LLVMGetFirstUse(magnitude); u; u = LLVMGetNextUse(u))
    if (!is_such(g, loop, LLVMGetUser(u)))
      return false;
  return true;
}

static LLVMValueRef compared(Cg *cg, const FnGraph *g, uint32_t loop, LLVMValueRef i) {
  unsigned side = magnitude_of(g, loop, i);
  LLVMValueRef d = signed_one(LLVMGetOperand(i, side)), most = LLVMGetOperand(i, !side);
  LLVMValueRef front = graph_outer_front(g, loop, most);
  if (!front || !is_only_compared(g, loop, LLVMGetOperand(i, side)))
    return NULL;
  LLVMIntPredicate how = LLVMGetICmpPredicate(i);
  how = side ? cg_swapped(how) : how;
  LLVMBuilderRef b = cg->builder;
  LLVMTypeRef t = LLVMTypeOf(d);
  LLVMPositionBuilderBefore(b, front);
  if (how == LLVMIntSLT || how == LLVMIntSGE) /* |d| < g is |d| <= g - 1 */
    most = l_select(b, l_icmp(b, LLVMIntSGT, most, l_int(t, 0)), l_sub(b, most, l_int(t, 1)),
                    LLVMConstAllOnes(t));
  LLVMValueRef places = l_add(b, l_shl(b, most, l_int(t, 1)), l_int(t, 1));
  places = l_select(b, l_icmp(b, LLVMIntSLT, most, l_int(t, 0)), l_int(t, 0), places);
  LLVMPositionBuilderBefore(b, i);
  LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(i));
  bool within = how == LLVMIntSLT || how == LLVMIntSLE;
  return l_icmp(b, within ? LLVMIntULT : LLVMIntUGE, l_add(b, d, most), places);
}

static void look_at(Cg *cg, const FnGraph *g, uint32_t loop) {
  const GraphLoop *l = &g->loops.data[loop];
  for (uint32_t k = 0; k < l->nnodes; k++) {
    const GraphNode *n = &g->nodes[l->nodes[k]];
    for (LLVMValueRef i = n->loop == loop ? n->first : NULL, next; i; i = next) {
      next = LLVMGetNextInstruction(i);
      LLVMValueRef v = is_such(g, loop, i) ? compared(cg, g, loop, i) : NULL;
      if (!v)
        continue;
      LLVMReplaceAllUsesWith(i, v);
      LLVMInstructionEraseFromParent(i);
    }
  }
}

void cg_nvptx_magnitudes(Cg *cg) { graph_each_loop(cg, look_at); }
