/* NVPTX closed ranges: loops that compare the counter as it was before the step.
 *
 *   while k <= last:                  do …, next = k + 1, again = k < last, k = next while again
 *     …
 *     k += 1
 *
 * LLVM writes `k + 1 <= last` as `k < last`, and `k + 1 != last + 1` as `k != last`. Both numbers
 * are alive at the comparison then, which takes a copy, and ptxas unrolls no loop of that form. So
 * the loop compares the next number again:
 *
 *   do …, k += 1 while k <= last
 *
 * In: functions as they go to the code generator. Innermost loops with one edge back and one out,
 * by a comparison of a phi with what the loop does not change, whose next value is the phi plus 1
 * or -1; where the order is asked, without wrapping around. Loops that LLVM has unrolled take
 * longer steps, and stay as they are. */
#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"

typedef struct Closed {
  LLVMValueRef end, front; /* the loop's branch; the terminator in front of it */
  LLVMValueRef test, next, bound;
  LLVMIntPredicate how; /* of the phi with the bound */
} Closed;

static bool is_equality(LLVMIntPredicate how) { return how == LLVMIntEQ || how == LLVMIntNE; }

/* What `next` is to the bound if the phi is `how` to it, where next = phi + 1, or phi - 1; 0: that
 * is not known. */
static LLVMIntPredicate of_next(LLVMIntPredicate how, bool up) {
  switch (how) {
  case LLVMIntSLT: return up ? LLVMIntSLE : 0;
  case LLVMIntSGE: return up ? LLVMIntSGT : 0;
  case LLVMIntSGT: return up ? 0 : LLVMIntSGE;
  case LLVMIntSLE: return up ? 0 : LLVMIntSLT;
  case LLVMIntULT: return up ? LLVMIntULE : 0;
  case LLVMIntUGE: return up ? LLVMIntUGT : 0;
  default: return 0;
  }
}

/* The comparison that asks the same of the next value; 0: none does. */
static LLVMIntPredicate next_order(const Closed *c) {
  bool up = cg_is_number(LLVMGetOperand(c->next, 1), 1);
  bool is_unsigned = c->how == LLVMIntULT || c->how == LLVMIntUGE;
  return (is_unsigned ? LLVMGetNUW(c->next) : LLVMGetNSW(c->next)) ? of_next(c->how, up) : 0;
}

/* Is the loop left from that node alone? ptxas unrolls no others. */
static bool is_left_from(const FnGraph *g, const GraphLoop *loop, uint32_t latch) {
  for (uint32_t k = 0; k < loop->nnodes; k++)
    for (uint32_t n = 0; n < g->nodes[loop->nodes[k]].nsucc; n++) {
      uint32_t to = g->nodes[loop->nodes[k]].succ[n], m = 0;
      while (m < loop->nnodes && loop->nodes[m] != to)
        m++;
      if (m == loop->nnodes && loop->nodes[k] != latch)
        return false;
    }
  return true;
}

static bool read_closed(const FnGraph *g, uint32_t loop, Closed *c) {
  const GraphLoop *l = &g->loops.data[loop];
  LLVMBasicBlockRef header = g->nodes[l->header].block;
  Fork fork;
  c->front = graph_front(g, loop);
  c->end = l->innermost && l->nlatches == 1 ? g->nodes[l->latches[0]].last : NULL;
  if (!c->front || !c->end || !is_left_from(g, l, l->latches[0]) || !graph_fork(c->end, &fork) ||
      !LLVMIsAICmpInst(fork.condition))
    return false;
  c->test = fork.condition;
  c->how = LLVMGetICmpPredicate(c->test);
  LLVMValueRef phi = LLVMGetOperand(c->test, 0);
  c->bound = LLVMGetOperand(c->test, 1);
  if (graph_in_loop(g, loop, phi) && !LLVMIsAPHINode(phi))
    return false;
  if (!LLVMIsAPHINode(phi)) {
    phi = c->bound;
    c->bound = LLVMGetOperand(c->test, 0);
    c->how = cg_swapped(c->how);
  }
  if (!LLVMIsAPHINode(phi) || LLVMGetInstructionParent(phi) != header || !cg_int_width(phi) ||
      graph_in_loop(g, loop, c->bound))
    return false;
  c->next = graph_incoming(phi, LLVMGetInstructionParent(c->end));
  return cg_is_op(c->next, LLVMAdd) && LLVMGetOperand(c->next, 0) == phi &&
         (cg_is_number(LLVMGetOperand(c->next, 1), 1) ||
          cg_is_number(LLVMGetOperand(c->next, 1), UINT64_MAX)) &&
         (is_equality(c->how) || next_order(c));
}

static void compare_next(Cg *cg, const Closed *c) {
  LLVMIntPredicate how = next_order(c);
  LLVMValueRef bound = c->bound;
  if (is_equality(c->how)) {
    how = c->how;
    LLVMPositionBuilderBefore(cg->builder, c->front);
    bound = l_add(cg->builder, bound, LLVMGetOperand(c->next, 1));
  }
  LLVMPositionBuilderBefore(cg->builder, c->end);
  LLVMSetCondition(c->end, l_icmp(cg->builder, how, c->next, bound));
  if (!LLVMGetFirstUse(c->test))
    LLVMInstructionEraseFromParent(c->test);
}

static void look_at(Cg *cg, const FnGraph *g, uint32_t loop) {
  Closed c;
  if (read_closed(g, loop, &c))
    compare_next(cg, &c);
}

void cg_nvptx_closed_ranges(Cg *cg) { graph_each_loop(cg, look_at); }
