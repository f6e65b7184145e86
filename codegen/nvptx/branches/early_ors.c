/* NVPTX early ors: a condition that any of many comparisons meets, known after each of them.
 *
 *   for k in range(33):  # unrolled
 *     …                  # v, behind a condition
 *     if v > best: best = v; row = r; col = k
 *
 * LLVM asks once, behind all of them, whether row changes: the last comparison holds, or the one
 * before, and so on to the first. Until then each is in a predicate. A thread has seven: ptxas
 * moves the others to registers, and no load that has a condition of its own to the front. Here
 * each comparison joins those before it where it is made, and one predicate is alive.
 *
 * In: a module that only the code generator is still to see. */
#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"

enum { MOST = 64, FEWEST = 4 };

/* The conditions of which one has to hold, in the order of the code. */
typedef struct Any {
  Cg *cg;
  const FnGraph *g;
  LLVMValueRef of[MOST];
  unsigned n;
} Any;

static bool is_or(const Cg *cg, LLVMValueRef v) {
  return LLVMTypeOf(v) == cg->t.i1 &&
         (cg_is_op(v, LLVMOr) ||
          (cg_is_op(v, LLVMSelect) && cg_is_number(LLVMGetOperand(v, 1), 1)));
}

static LLVMValueRef other(LLVMValueRef v) { return LLVMGetOperand(v, cg_is_op(v, LLVMOr) ? 1 : 2); }

static uint32_t node_of(const Any *a, LLVMValueRef i) {
  return graph_number(a->g, LLVMGetInstructionParent(i));
}

/* Nodes are in reverse post-order, and all conditions dominate what they are for. */
static bool is_before(const Any *a, LLVMValueRef x, LLVMValueRef y) {
  if (LLVMGetInstructionParent(x) != LLVMGetInstructionParent(y))
    return node_of(a, x) < node_of(a, y);
  while (x && x != y)
    x = LLVMGetNextInstruction(x);
  return x == y;
}

static bool add(Any *a, LLVMValueRef v) {
  if (!LLVMIsAInstruction(v) || a->n == MOST)
    return false;
  unsigned k = a->n++;
  for (; k && is_before(a, v, a->of[k - 1]); k--)
    a->of[k] = a->of[k - 1];
  a->of[k] = v;
  return true;
}

/* False: one is no instruction, or they are too many. */
static bool collect(Any *a, LLVMValueRef v, bool root) {
  if (!is_or(a->cg, v) || (!root && !cg_has_one_use(v)))
    return add(a, v);
  return collect(a, LLVMGetOperand(v, 0), false) && collect(a, other(v), false);
}

/* Are they in several blocks, and made as often as what they are for? */
static bool are_apart(const Any *a, LLVMValueRef root) {
  unsigned blocks = 1;
  for (unsigned k = 0; k < a->n; k++) {
    if (a->g->nodes[node_of(a, a->of[k])].loop != a->g->nodes[node_of(a, root)].loop)
      return false;
    blocks += k && LLVMGetInstructionParent(a->of[k]) != LLVMGetInstructionParent(a->of[k - 1]);
  }
  return blocks >= FEWEST;
}

/* Is it a part of a larger one? */
static bool is_part(const Cg *cg, LLVMValueRef v) {
  return cg_has_one_use(v) && is_or(cg, LLVMGetUser(LLVMGetFirstUse(v)));
}

static void erase(const Cg *cg, LLVMValueRef v) {
  if (!is_or(cg, v) || LLVMGetFirstUse(v))
    return;
  LLVMValueRef x = LLVMGetOperand(v, 0), y = other(v);
  LLVMInstructionEraseFromParent(v);
  erase(cg, x);
  if (y != x)
    erase(cg, y);
}

/* What a condition is made of may be poison where one before it holds, and nothing asked for it. */
static void join_early(Any *a, LLVMValueRef root) {
  LLVMBuilderRef b = a->cg->builder;
  LLVMValueRef any = NULL;
  for (unsigned k = 0; k < a->n; k++) {
    LLVMValueRef i = a->of[k];
    LLVMPositionBuilderBefore(b, LLVMIsAPHINode(i) ? graph_behind_phis(LLVMGetInstructionParent(i))
                                                   : LLVMGetNextInstruction(i));
    LLVMValueRef sure = l_freeze(b, i);
    any = any ? l_or(b, any, sure) : sure;
  }
  LLVMReplaceAllUsesWith(root, any);
  erase(a->cg, root);
}

static void look_at(Cg *cg, const FnGraph *g, LLVMBasicBlockRef block) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(block), next; i; i = next) {
    Any a = {.cg = cg, .g = g};
    next = LLVMGetNextInstruction(i);
    if (is_or(cg, i) && !is_part(cg, i) && collect(&a, i, true) && are_apart(&a, i))
      join_early(&a, i);
  }
}

void cg_nvptx_early_ors(Cg *cg) {
  FnGraph g;
  for (LLVMValueRef f = NULL; graph_next_function(cg, &f, &g);)
    for (uint32_t k = 0; k < g.len; k++)
      look_at(cg, &g, g.nodes[k].block);
}
