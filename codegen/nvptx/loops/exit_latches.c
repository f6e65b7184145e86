/* NVPTX exit latches: loops whose last statement may leave them, in the form that LLVM rotates.
 *
 *   for k in range(begin, end):
 *     total += min(x[k], most[i])
 *     if total >= limit[i]: break
 *
 * LLVM moves a loop's condition to its end, by which what the loop does not change (most[i],
 * limit[i]) is loaded in front of it. It leaves loops alone whose last block leaves them, for they
 * may have been rotated before. Where the first block leaves them too they have not: a block of its
 * own on the way back, which LLVM makes a part of the rotated loop, says so. Loops that load
 * nothing of the kind stay: searches as a rule, which have two or three instructions more when they
 * are rotated. So do loops around others, beside which a load is little, and a register is not.
 *
 * In: functions in front of the rotation. Out: such blocks. */
#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"

enum { MAX_DEPTH = 8 /* operations of an address in the loop */ };

static bool leaves(const FnGraph *g, uint32_t loop, uint32_t node) {
  Fork fork;
  if (!graph_fork(LLVMGetBasicBlockTerminator(g->nodes[node].block), &fork))
    return false;
  LLVMBasicBlockRef ways[] = {fork.yes, fork.no};
  for (unsigned k = 0; k < 2; k++)
    if (!graph_in_loop(g, loop, LLVMGetBasicBlockTerminator(ways[k])))
      return true;
  return false;
}

/* Is v made of nothing but what the loop does not change? */
static bool is_fixed(const FnGraph *g, uint32_t loop, LLVMValueRef v, unsigned depth) {
  if (!graph_in_loop(g, loop, v))
    return true;
  if (depth == MAX_DEPTH || LLVMIsAPHINode(v) || !cg_is_speculatable(v))
    return false;
  for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(v); k++)
    if (!is_fixed(g, loop, LLVMGetOperand(v, k), depth + 1))
      return false;
  return true;
}

/* Does each iteration that begins load something that the loop does not change? */
static bool loads_fixed(const FnGraph *g, uint32_t loop) {
  const GraphLoop *l = &g->loops.data[loop];
  bool found = false;
  for (uint32_t k = 0; k < l->nnodes; k++) {
    uint32_t at = l->nodes[k];
    bool sure = at != l->header && graph_dominates(g, at, l->latches[0]);
    for (LLVMValueRef i = g->nodes[at].first; i; i = LLVMGetNextInstruction(i)) {
      if (cg_is_op(i, LLVMLoad))
        found |= sure && cg_is_plain_access(i) && is_fixed(g, loop, LLVMGetOperand(i, 0), 0);
      else if (!LLVMIsATerminatorInst(i) && !cg_only_computes(i) && !cg_is_speculatable(i))
        return false; /* it may store */
    }
  }
  return found;
}

static bool has_two_ends(const FnGraph *g, uint32_t loop) {
  const GraphLoop *l = &g->loops.data[loop];
  return l->innermost && l->nlatches == 1 && l->latches[0] != l->header &&
         leaves(g, loop, l->header) && leaves(g, loop, l->latches[0]);
}

bool cg_nvptx_has_exit_latches(const Cg *cg) {
  FnGraph g;
  for (LLVMValueRef f = NULL; graph_next_function(cg, &f, &g);)
    for (uint32_t k = 0; k < g.loops.len; k++)
      if (has_two_ends(&g, k))
        return true;
  return false;
}

static void look_at(Cg *cg, const FnGraph *g, uint32_t loop) {
  if (!has_two_ends(g, loop) || !loads_fixed(g, loop))
    return;
  const GraphLoop *l = &g->loops.data[loop];
  LLVMBasicBlockRef header = g->nodes[l->header].block;
  LLVMBasicBlockRef back = LLVMAppendBasicBlockInContext(cg->context,
                                                         LLVMGetBasicBlockParent(header), "back");
  LLVMMoveBasicBlockAfter(back, g->nodes[l->latches[0]].block);
  l_at_end(cg->builder, back, NULL);
  LLVMValueRef end = g->nodes[l->latches[0]].last, again = l_br(cg->builder, header);
  unsigned kind = LLVMGetMDKindIDInContext(cg->context, "llvm.loop", 9);
  LLVMSetMetadata(again, kind, LLVMGetMetadata(end, kind));
  LLVMSetMetadata(end, kind, NULL);
  graph_join_latches(g, l, cg->builder, back, back);
}

void cg_nvptx_exit_latches(Cg *cg) { graph_each_loop(cg, look_at); }
