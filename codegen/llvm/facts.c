/* Facts: see facts.h. */
#include "codegen/llvm/facts.h"

#include "codegen/llvm/match.h"

enum { DEEPEST = 12 }; /* parts of parts of a condition */

static void add(Facts *facts, LLVMValueRef condition, bool holds, unsigned depth) {
  if (depth < DEEPEST && (holds ? cg_is_both(condition) : cg_is_either(condition))) {
    add(facts, LLVMGetOperand(condition, 0), holds, depth + 1);
    add(facts, cg_second_condition(condition), holds, depth + 1);
  } else if (facts->n < MOST_FACTS) {
    facts->list[facts->n++] = (Fact){condition, holds};
  }
}

void cg_add_facts_of_edge(Facts *facts, LLVMValueRef end, LLVMBasicBlockRef to) {
  Fork fork;
  if (graph_fork(end, &fork) && fork.yes != fork.no)
    add(facts, fork.condition, fork.yes == to, 0);
}

void cg_add_facts_at(Facts *facts, const FnGraph *g, uint32_t node) {
  for (; node != GRAPH_NONE; node = g->nodes[node].idom)
    if (g->nodes[node].npred == 1)
      cg_add_facts_of_edge(facts, g->nodes[g->nodes[node].pred[0]].last, g->nodes[node].block);
}
