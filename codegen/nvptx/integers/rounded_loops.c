/* NVPTX rounded loops: short loops whose counter is added to an int64 that was a float, as the taps
 * of a filter, `for j in range(-1, 3)`, are unrolled fully, as ptxas would do anyway: then it is a
 * constant that rounded.c sees. */
#include "codegen/llvm/compat.h"
#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"
#include "codegen/llvm/optimize.h"
#include "codegen/nvptx/loops/loop_marks.h"
#include "codegen/nvptx/nvptx.h"

/* MOST_CODE: instructions of a loop's iterations together */
enum { MOST_TRIPS = 8, MOST_CODE = 600 };

static unsigned code_of(const FnGraph *g, const GraphLoop *l) {
  unsigned n = 0;
  for (uint32_t k = 0; k < l->nnodes; k++)
    for (LLVMValueRef i = g->nodes[l->nodes[k]].first; i; i = LLVMGetNextInstruction(i))
      n++;
  return n;
}

/* How often the loop with this counter runs: from a constant, by 1, until it equals one; 0: not
 * known. */
static uint64_t trips_of(const FnGraph *g, const GraphLoop *l, LLVMValueRef phi) {
  LLVMBasicBlockRef latch = g->nodes[l->latches[0]].block;
  Fork fork;
  if (l->nlatches != 1 || LLVMCountIncoming(phi) != 2 ||
      !graph_fork(LLVMGetBasicBlockTerminator(latch), &fork) || !LLVMIsAICmpInst(fork.condition))
    return 0;
  LLVMValueRef next = graph_incoming(phi, latch),
               start = LLVMGetIncomingValue(phi, LLVMGetIncomingBlock(phi, 0) == latch),
               end = LLVMGetOperand(fork.condition, 1);
  bool stays = fork.yes == g->nodes[l->header].block;
  bool by_one = next && cg_is_op(next, LLVMAdd) && LLVMGetOperand(next, 0) == phi &&
                LLVMIsAConstantInt(LLVMGetOperand(next, 1)) &&
                LLVMConstIntGetSExtValue(LLVMGetOperand(next, 1)) == 1;
  if (!by_one || LLVMGetICmpPredicate(fork.condition) != (stays ? LLVMIntNE : LLVMIntEQ) ||
      LLVMGetOperand(fork.condition, 0) != next || !LLVMIsAConstantInt(start) ||
      !LLVMIsAConstantInt(end))
    return 0;
  return (uint64_t)LLVMConstIntGetSExtValue(end) - (uint64_t)LLVMConstIntGetSExtValue(start);
}

/* Marks the loop whose counter is added to v, if it is short. */
static bool mark_loop_of(Cg *cg, const FnGraph *g, LLVMValueRef v) {
  bool any = false;
  for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef sum = LLVMGetUser(u);
    if (!cg_is_op(sum, LLVMAdd))
      continue;
    LLVMValueRef c = cg_peel(LLVMGetOperand(sum, LLVMGetOperand(sum, 0) == v));
    uint32_t at = LLVMIsAPHINode(c) ? graph_number(g, LLVMGetInstructionParent(c)) : GRAPH_NONE;
    uint32_t loop = at == GRAPH_NONE ? GRAPH_NONE : g->nodes[at].loop;
    if (loop == GRAPH_NONE || g->loops.data[loop].header != at || !g->loops.data[loop].innermost)
      continue;
    const GraphLoop *l = &g->loops.data[loop];
    uint64_t trips = trips_of(g, l, c);
    if (!trips || trips > MOST_TRIPS || trips * code_of(g, l) > MOST_CODE)
      continue;
    cg_mark_whole(cg->context, g->nodes[l->latches[0]].last, 0);
    any = true;
  }
  return any;
}

static bool mark_loops(Cg *cg, LLVMValueRef f) {
  FnGraph g = {0};
  bool any = false;
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
      if (!cg_nvptx_is_conversion(i))
        continue;
      if (!g.len) {
        g = graph_of(&cg->cx->arena, f, NULL);
        graph_loops(&g);
      }
      any |= mark_loop_of(cg, &g, i);
      for (LLVMUseRef u = LLVMGetFirstUse(i); u; u = LLVMGetNextUse(u))
        any |= LLVMIsASelectInst(LLVMGetUser(u)) && mark_loop_of(cg, &g, LLVMGetUser(u));
    }
  return any;
}

void cg_nvptx_unroll_rounded(Cg *cg) {
  bool any = false;
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    any |= !LLVMIsDeclaration(f) && mark_loops(cg, f);
  if (!any)
    return;
  cg_run_passes(cg, "function(loop(loop-unroll-full))");
  cg_unmark_whole(cg);
  cg_run_passes(cg, cg_cleaning(cg));
}
