/* NVPTX array bases: in a loop over many arrays the addresses begin with the arrays, which are
 * parameters, not with elements that were read in front of the loop.
 *
 *   ratio = upper[0, s] / diagonal[0, s]
 *   for i in range(1, n):                     # and of three arrays more
 *     ratio = upper[i, s] / (diagonal[i, s] - lower[i, s] * ratio)
 *
 * LLVM's code generator makes upper[i, s] a sum of &upper[0, s] and a row, as it has that address
 * anyway. Then each array takes two registers throughout the loop, where the constant bank has its
 * pointer. The index i * m + s takes no more instructions than i * m.
 *
 * In: functions as they go to the code generator. Out: where a loop has such addresses of MANY
 * arrays, s has another name in it, a freeze, so that the generator does not find the elements in
 * front. */
#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"

enum {
  MANY = 4,          /* with fewer arrays the registers are not what a kernel lacks */
  MAX_ELEMENTS = 64, /* in front of loops, of a function */
};

/* The address of an array's element s, of a parameter and a number of 32 bits. */
typedef struct Element {
  LLVMValueRef gep, array, s;
  uint32_t at; /* its node */
} Element;

typedef struct Elements {
  Cg *cg;
  FnGraph g;
  Element list[MAX_ELEMENTS];
  unsigned n;
} Elements;

/* The number of 32 bits with which a parameter is indexed; NULL: it is no such address. */
static LLVMValueRef index_of(const Cg *cg, LLVMValueRef i) {
  if (!cg_is_op(i, LLVMGetElementPtr) || LLVMGetNumIndices(i) != 1 ||
      !LLVMIsAArgument(LLVMGetOperand(i, 0)))
    return NULL;
  LLVMValueRef v = LLVMGetOperand(i, 1);
  if (!cg_is_extension(v) || LLVMTypeOf(v) != cg->t.i64)
    return NULL;
  v = LLVMGetOperand(v, 0);
  return LLVMTypeOf(v) == cg->t.i32 && LLVMIsAInstruction(v) ? v : NULL;
}

static void find_elements(Elements *all) {
  for (uint32_t n = 0; n < all->g.len; n++)
    for (LLVMValueRef i = all->g.nodes[n].first; i; i = LLVMGetNextInstruction(i)) {
      LLVMValueRef s = index_of(all->cg, i);
      if (s && all->n < MAX_ELEMENTS)
        all->list[all->n++] = (Element){i, LLVMGetOperand(i, 0), s, n};
    }
}

/* Would the generator begin this address of the loop with the element in front of it? The same
 * array at one of the two terms of the index, of which the other changes. */
static bool begins_with(const Elements *all, uint32_t loop, uint32_t node, LLVMValueRef gep,
                        const Element *e) {
  const FnGraph *g = &all->g;
  LLVMValueRef sum = index_of(all->cg, gep);
  if (!sum || !cg_is_op(sum, LLVMAdd) || e->array != LLVMGetOperand(gep, 0))
    return false;
  bool second = LLVMGetOperand(sum, 1) == e->s;
  return (second || LLVMGetOperand(sum, 0) == e->s) &&
         graph_in_loop(g, loop, LLVMGetOperand(sum, !second)) && !graph_in_loop(g, loop, e->s) &&
         !graph_in_loop(g, loop, e->gep) && graph_dominates(g, e->at, node);
}

/* An address of the loop that the generator would begin with that element; NULL: there is none. */
static LLVMValueRef begun_with(const Elements *all, uint32_t loop, const Element *e) {
  const GraphLoop *l = &all->g.loops.data[loop];
  for (uint32_t k = 0; k < l->nnodes; k++) {
    uint32_t node = l->nodes[k];
    for (LLVMValueRef i = all->g.nodes[node].first; i; i = LLVMGetNextInstruction(i))
      if (begins_with(all, loop, node, i, e))
        return i;
  }
  return NULL;
}

/* How many arrays have such an address. */
static unsigned count_arrays(const Elements *all, uint32_t loop) {
  LLVMValueRef seen[MAX_ELEMENTS];
  unsigned n = 0;
  for (unsigned k = 0; k < all->n; k++) {
    const Element *e = &all->list[k];
    bool known = false;
    for (unsigned j = 0; j < n; j++)
      known |= seen[j] == e->array;
    if (!known && begun_with(all, loop, e))
      seen[n++] = e->array;
  }
  return n;
}

/* Gives the terms s of such addresses their other name, one for all of the loop. */
static void rename_terms(const Elements *all, uint32_t loop, LLVMValueRef front) {
  Cg *cg = all->cg;
  for (unsigned k = 0; k < all->n; k++) {
    LLVMValueRef s = all->list[k].s, name = NULL, gep;
    for (unsigned j = k; j < all->n; j++)
      while (all->list[j].s == s && (gep = begun_with(all, loop, &all->list[j]))) {
        LLVMValueRef sum = index_of(cg, gep);
        LLVMPositionBuilderBefore(cg->builder, front);
        name = name ? name : l_freeze(cg->builder, s);
        LLVMSetOperand(sum, LLVMGetOperand(sum, 1) == s, name);
      }
  }
}

void cg_nvptx_array_bases(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f)) {
    if (LLVMIsDeclaration(f))
      continue;
    Elements *all = CX_NEW(cg->cx, Elements);
    all->cg = cg;
    all->g = graph_of(&cg->cx->arena, f, NULL);
    graph_loops(&all->g);
    find_elements(all);
    for (uint32_t loop = 0; loop < all->g.loops.len && all->n > MANY; loop++) {
      LLVMValueRef front = graph_front(&all->g, loop);
      if (front && all->g.loops.data[loop].innermost && count_arrays(all, loop) >= MANY)
        rename_terms(all, loop, front);
    }
  }
}
