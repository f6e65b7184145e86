/* NVPTX sum counters: loops that count by what they use of their counter.
 *
 *   for kx in range(first, last):
 *     cell = row + kx                 # `row` does not change in the loop
 *     …                               # kx is used nowhere else
 *
 * The loop keeps the counter, `row` and `last`, and adds two of them in each iteration; where
 * registers are few, ptxas even computes `row` anew. But `row + kx` counts as well:
 *
 *   cell = row + first
 *   do … cell += 1 while cell != row + last
 *
 * In: functions as they go to the code generator. A phi of a loop's first block which is used by
 * its own increment and sums with one number alone, and whose increment by comparisons for equality
 * alone, besides. Integers wrap around, so that two are equal if and only if they are with the same
 * number added. A parameter of the kernel as that number stays: an operation reads it for nothing.
 */
#include "codegen/llvm/copy.h"
#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"

typedef struct Counting {
  const FnGraph *g;
  uint32_t loop;
  LLVMValueRef phi, next, more; /* next: the phi plus a constant; more: what is added to the phi */
  LLVMBasicBlockRef front, latch;
} Counting;

/* Is it a comparison with what the loop does not change? */
static bool ends_loop(const Counting *c, LLVMValueRef user, LLVMValueRef counter) {
  return LLVMIsAICmpInst(user) &&
         (LLVMGetICmpPredicate(user) == LLVMIntEQ || LLVMGetICmpPredicate(user) == LLVMIntNE) &&
         LLVMGetOperand(user, 0) == counter &&
         !graph_in_loop(c->g, c->loop, LLVMGetOperand(user, 1));
}

/* Is it the counter's sum with the number that all others have? */
static bool is_sum(Counting *c, LLVMValueRef user) {
  if (!cg_is_op(user, LLVMAdd))
    return false;
  LLVMValueRef a = LLVMGetOperand(user, 0), b = LLVMGetOperand(user, 1);
  LLVMValueRef other = a == c->phi ? b : a;
  if (other == c->phi || !LLVMIsAInstruction(other) || graph_in_loop(c->g, c->loop, other) ||
      (c->more && c->more != other))
    return false;
  c->more = other;
  return true;
}

static bool read_phi(Counting *c, LLVMValueRef phi) {
  c->phi = phi;
  c->more = NULL;
  if (!cg_int_width(phi) || LLVMCountIncoming(phi) != 2)
    return false;
  c->next = graph_incoming(phi, c->latch);
  if (!cg_is_op(c->next, LLVMAdd) || LLVMGetOperand(c->next, 0) != phi ||
      !LLVMIsAConstantInt(LLVMGetOperand(c->next, 1)))
    return false;
  for (LLVMUseRef u = LLVMGetFirstUse(phi); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef user = LLVMGetUser(u);
    if (user != c->next && !ends_loop(c, user, phi) && !is_sum(c, user))
      return false;
  }
  for (LLVMUseRef u = LLVMGetFirstUse(c->next); u; u = LLVMGetNextUse(u))
    if (LLVMGetUser(u) != phi && !ends_loop(c, LLVMGetUser(u), c->next))
      return false;
  return c->more;
}

/* v with the number added to it, in front of the loop. */
static LLVMValueRef with_more(Cg *cg, const Counting *c, LLVMValueRef v) {
  LLVMPositionBuilderBefore(cg->builder, LLVMGetBasicBlockTerminator(c->front));
  return l_add(cg->builder, v, c->more);
}

static void move_ends(Cg *cg, const Counting *c, LLVMValueRef counter, LLVMValueRef now) {
  for (LLVMUseRef u = LLVMGetFirstUse(counter); u;) {
    LLVMValueRef user = LLVMGetUser(u);
    if (!LLVMIsAICmpInst(user)) {
      u = LLVMGetNextUse(u);
      continue;
    }
    LLVMSetOperand(user, 1, with_more(cg, c, LLVMGetOperand(user, 1)));
    LLVMSetOperand(user, 0, now);
    u = LLVMGetFirstUse(counter);
  }
}

static void count_by_sum(Cg *cg, const Counting *c) {
  LLVMValueRef start = with_more(cg, c, graph_incoming(c->phi, c->front));
  LLVMPositionBuilderBefore(cg->builder, c->phi);
  LLVMValueRef sum = l_phi(cg->builder, LLVMTypeOf(c->phi));
  LLVMPositionBuilderBefore(cg->builder, c->next);
  LLVMValueRef next = l_add(cg->builder, sum, LLVMGetOperand(c->next, 1));
  LLVMAddIncoming(sum, (LLVMValueRef[]){start, next}, (LLVMBasicBlockRef[]){c->front, c->latch}, 2);
  move_ends(cg, c, c->phi, sum);
  move_ends(cg, c, c->next, next);
  for (LLVMUseRef u = LLVMGetFirstUse(c->phi); u;) {
    LLVMValueRef user = LLVMGetUser(u);
    u = LLVMGetNextUse(u);
    if (user == c->next)
      continue;
    LLVMReplaceAllUsesWith(user, sum);
    LLVMInstructionEraseFromParent(user);
    u = LLVMGetFirstUse(c->phi);
  }
  LLVMReplaceAllUsesWith(c->next, LLVMGetPoison(LLVMTypeOf(c->phi)));
  LLVMInstructionEraseFromParent(c->next);
  LLVMInstructionEraseFromParent(c->phi);
}

static void visit_loop(Cg *cg, const FnGraph *g, uint32_t loop) {
  const GraphLoop *l = &g->loops.data[loop];
  LLVMValueRef front = graph_front(g, loop);
  if (!front || l->nlatches != 1)
    return;
  Counting c = {.g = g,
                .loop = loop,
                .front = LLVMGetInstructionParent(front),
                .latch = g->nodes[l->latches[0]].block};
  VEC(LLVMValueRef) phis = {0}; /* what is behind them may be erased */
  for (LLVMValueRef i = LLVMGetFirstInstruction(g->nodes[l->header].block); LLVMIsAPHINode(i);
       i = LLVMGetNextInstruction(i))
    VEC_PUSH(&cg->cx->arena, &phis, i);
  for (uint32_t p = 0; p < phis.len; p++)
    if (read_phi(&c, phis.data[p]))
      count_by_sum(cg, &c);
}

void cg_nvptx_sum_counters(Cg *cg) { graph_each_loop(cg, visit_loop); }
