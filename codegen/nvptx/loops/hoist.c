/* NVPTX hoist: what the loop around a block does not change, in front of that loop.
 *
 * In: a block that a pass has written into a loop after LLVM's own hoisting. Out: its integers of
 * 32 bits and its conditions that are the same in all iterations are computed before the loop: the
 * clamped columns of a window, which its rows have in common, and which of them there are.
 * Addresses stay, since they would take two registers each. */
#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"

static bool is_invariant(const Cg *cg, const FnGraph *g, uint32_t loop, LLVMValueRef i) {
  LLVMTypeRef t = LLVMTypeOf(i);
  bool same = cg_is_speculatable(i) && (t == cg->t.i1 || t == cg->t.i32);
  for (int o = 0; o < LLVMGetNumOperands(i) && same; o++)
    same = !graph_in_loop(g, loop, LLVMGetOperand(i, (unsigned)o));
  return same;
}

void cg_nvptx_hoist(Cg *cg, LLVMBasicBlockRef block) {
  FnGraph g = graph_of(&cg->cx->arena, LLVMGetBasicBlockParent(block), NULL);
  graph_loops(&g);
  uint32_t at = graph_number(&g, block), loop = at == GRAPH_NONE ? GRAPH_NONE : g.nodes[at].loop;
  LLVMValueRef front = loop == GRAPH_NONE ? NULL : graph_front(&g, loop);
  for (LLVMValueRef i = LLVMGetFirstInstruction(block), next; i && front; i = next) {
    next = LLVMGetNextInstruction(i);
    if (!is_invariant(cg, &g, loop, i))
      continue;
    LLVMInstructionRemoveFromParent(i);
    LLVMPositionBuilderBefore(cg->builder, front);
    l_insert(cg->builder, i);
  }
}
