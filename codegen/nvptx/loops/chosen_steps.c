/* NVPTX chosen steps: one of two constants that a loop adds, chosen in front of it, in a register.
 *
 *   step = 1 if dx > 0 else -1
 *   while 0 <= x < nx:
 *     …
 *     x += step
 *
 * ptxas keeps the condition, not the step: in each iteration it adds the one constant, and the
 * other one under a predicate, which where the sum is behind a condition it makes anew of two. In a
 * register the step takes one addition. So a 0 is added to it that ptxas takes for another number
 * (vector_counters.c).
 *
 * In: functions as they go to the code generator. Out: the same numbers. */
#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"

enum { MOST = 8 }; /* steps of a function */

typedef struct Steps {
  Cg *cg;
  LLVMValueRef f, zero, chosen[MOST], now[MOST];
  unsigned n;
} Steps;

static bool is_chosen(const Cg *cg, LLVMValueRef v) {
  return LLVMIsASelectInst(v) && LLVMTypeOf(v) == cg->t.i32 &&
         LLVMIsAConstantInt(LLVMGetOperand(v, 1)) && LLVMIsAConstantInt(LLVMGetOperand(v, 2));
}

/* The step in a register; NULL if there are too many. */
static LLVMValueRef in_register(Steps *s, LLVMValueRef step) {
  for (unsigned k = 0; k < s->n; k++)
    if (s->chosen[k] == step)
      return s->now[k];
  if (s->n == MOST)
    return NULL;
  s->zero = s->zero ? s->zero : cg_nvptx_hidden_zero(s->cg, s->f);
  LLVMBasicBlockRef block = LLVMGetInstructionParent(step);
  LLVMPositionBuilderBefore(s->cg->builder, LLVMGetBasicBlockTerminator(block));
  s->chosen[s->n] = step;
  return s->now[s->n++] = l_add(s->cg->builder, step, s->zero);
}

static void visit(Steps *s, const FnGraph *g, const GraphNode *node) {
  for (LLVMValueRef i = node->first; i; i = LLVMGetNextInstruction(i))
    for (unsigned k = 0; k < 2 && cg_is_op(i, LLVMAdd); k++) {
      LLVMValueRef step = LLVMGetOperand(i, k);
      if (!is_chosen(s->cg, step) || graph_in_loop(g, node->loop, step))
        continue;
      LLVMValueRef now = in_register(s, step);
      if (now)
        LLVMSetOperand(i, k, now);
    }
}

void cg_nvptx_chosen_steps(Cg *cg) {
  FnGraph g;
  for (LLVMValueRef f = NULL; graph_next_function(cg, &f, &g);) {
    Steps s = {.cg = cg, .f = f};
    for (uint32_t n = 0; n < g.len; n++)
      if (g.nodes[n].loop != GRAPH_NONE)
        visit(&s, &g, &g.nodes[n]);
  }
}
