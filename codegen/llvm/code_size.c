/* Code size: see code_size.h. Each count is of one function, by its control-flow graph (graph.h);
 * the result has the greatest of each over the module, since what takes too long in LLVM is
 * superlinear in the size of a function, not of the module. */
#include "codegen/llvm/code_size.h"

#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"

/* mark: by node, 1 + the header of the loop being counted. */
static uint32_t count_exits(const FnGraph *g, const GraphLoop *l, const uint32_t *mark) {
  uint32_t exits = 0;
  for (uint32_t k = 0; k < l->nnodes; k++) {
    const GraphNode *n = &g->nodes[l->nodes[k]];
    bool leaves = false;
    for (uint32_t s = 0; s < n->nsucc; s++)
      leaves |= mark[n->succ[s]] != l->header + 1;
    exits += leaves;
  }
  return exits;
}

static uint32_t count_loads(LLVMBasicBlockRef block) {
  uint32_t n = 0;
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
    n += LLVMGetInstructionOpcode(i) == LLVMLoad;
  return n;
}

static bool loads_from(const FnGraph *g, const GraphLoop *l, LLVMValueRef array) {
  for (uint32_t k = 0; k < l->nnodes; k++)
    for (LLVMValueRef i = g->nodes[l->nodes[k]].first; i; i = LLVMGetNextInstruction(i))
      if (LLVMIsALoadInst(i) && cg_array_of(LLVMGetOperand(i, 0)) == array)
        return true;
  return false;
}

static bool forwards(const FnGraph *g, const GraphLoop *l) {
  enum { NODES = 16 }; /* of a loop that is unrolled */
  if (!l->innermost || l->nlatches != 1 || l->nnodes > NODES)
    return false;
  for (uint32_t k = 0; k < l->nnodes; k++) {
    if (graph_dominates(g, l->nodes[k], l->latches[0]))
      continue;
    for (LLVMValueRef i = g->nodes[l->nodes[k]].first; i; i = LLVMGetNextInstruction(i))
      if (LLVMIsAStoreInst(i) && loads_from(g, l, cg_array_of(LLVMGetOperand(i, 1))))
        return true;
  }
  return false;
}

static void count_loops(FnGraph *g, Length *l) {
  uint32_t *mark = ARENA_ARRAY(g->arena, uint32_t, g->len);
  graph_loops(g);
  l->loops = g->loops.len;
  for (uint32_t n = 0; n < g->loops.len; n++) {
    const GraphLoop *loop = &g->loops.data[n];
    for (uint32_t k = 0; k < loop->nnodes; k++)
      mark[loop->nodes[k]] = loop->header + 1;
    uint32_t exits = count_exits(g, loop, mark);
    l->exits = exits > l->exits ? exits : l->exits;
    l->forwards |= forwards(g, loop);
  }
  for (uint32_t k = 0; k < g->len; k++)
    l->loads += g->nodes[k].depth ? count_loads(g->nodes[k].block) : 0;
}

static Length length_of(Arena *arena, LLVMValueRef f) {
  FnGraph g = graph_of(arena, f, NULL);
  Length l = {.blocks = g.len};
  for (uint32_t k = 0; k < g.len; k++)
    for (LLVMValueRef i = g.nodes[k].first; i; i = LLVMGetNextInstruction(i))
      l.instructions++;
  count_loops(&g, &l);
  return l;
}

static void raise_to(uint32_t *most, uint32_t n) { *most = n > *most ? n : *most; }

Length cg_length(Cg *cg) {
  Length most = {0};
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f)) {
    if (LLVMIsDeclaration(f))
      continue;
    Length l = length_of(&cg->cx->arena, f);
    raise_to(&most.instructions, l.instructions), raise_to(&most.blocks, l.blocks);
    raise_to(&most.loops, l.loops), raise_to(&most.exits, l.exits);
    raise_to(&most.loads, l.loads);
    most.forwards |= l.forwards;
  }
  return most;
}
