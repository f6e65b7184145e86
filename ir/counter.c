/* Counters of loops, and comparisons turned around: see interval.h. */
#include "ir/cfg.h"
#include "ir/interval.h"

bool ir_is_compare(const Ins *i) { return i->op >= OP_LT && i->op <= OP_GE; }

Op ir_inverse(Op compare) {
  static const Op inverse[] = {[OP_LT] = OP_GE, [OP_LE] = OP_GT, [OP_EQ] = OP_NE,
                               [OP_NE] = OP_EQ, [OP_GT] = OP_LE, [OP_GE] = OP_LT};
  return inverse[compare];
}

Op ir_swapped(Op compare) {
  static const Op swapped[] = {[OP_LT] = OP_GT, [OP_LE] = OP_GE, [OP_EQ] = OP_EQ,
                               [OP_NE] = OP_NE, [OP_GT] = OP_LT, [OP_GE] = OP_LE};
  return swapped[compare];
}

static bool is_step_of(const Ins *i, const Ins *phi) {
  bool first = i->nargs == 2 && i->args[0] == phi, second = i->nargs == 2 && i->args[1] == phi;
  if (i->op == OP_ADD || i->op == OP_MUL)
    return first != second;
  return (i->op == OP_SUB || i->op == OP_LSHIFT) && first && !second;
}

/* The operand with which the loop is entered, where all others are one step of phi; UINT32_MAX:
 * there is no such. */
static uint32_t entry_of(const Ins *phi) {
  uint32_t entry = UINT32_MAX;
  const Ins *next = NULL;
  for (uint32_t k = 0; k < phi->nargs; k++) {
    const Ins *a = phi->args[k];
    if (is_step_of(a, phi) && (!next || a == next))
      next = a;
    else if (entry == UINT32_MAX)
      entry = k;
    else
      return UINT32_MAX;
  }
  return next ? entry : UINT32_MAX;
}

bool ir_counter(const Ins *phi, Counter *c) {
  const Block *h = phi->block;
  const Ins *test = h->last->op == OP_CONDBR ? h->last->args[0] : NULL;
  uint32_t entry = phi->op == OP_PHI && test && ir_is_compare(test) ? entry_of(phi) : UINT32_MAX;
  if (entry == UINT32_MAX || (test->args[0] == phi) == (test->args[1] == phi))
    return false;
  int side = test->args[1] == phi;
  const Ins *next = phi->args[!entry];
  int leaves = !ir_dominates(h->succ[0], next->block);
  Op op = side ? ir_swapped(test->op) : (Op)test->op;
  op = leaves ? ir_inverse(op) : op;
  *c = (Counter){.start = phi->args[entry],
                 .next = next,
                 .step = next->args[next->args[0] == phi],
                 .stop = test->args[!side],
                 .before = h->preds.data[entry],
                 .body = h->succ[leaves],
                 .down = op == OP_GT || op == OP_GE,
                 .closed = op == OP_LE || op == OP_GE};
  return op != OP_EQ && op != OP_NE && h->succ[0] != h->succ[1] && c->body->preds.len == 1 &&
         ir_dominates(c->body, next->block);
}
