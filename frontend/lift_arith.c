/* Lift, arithmetic: operators, comparisons, truth. */
#include "frontend/lift_private.h"

static void binary(Lift *l, Op op) {
  Ins *y = bc_pop(l), *x = bc_pop(l);
  bc_push(l, bc_emit2(l, op, x, y));
}

static void unary(Lift *l, Op op) { bc_push(l, bc_emit1(l, op, bc_pop(l))); }

void bc_lift_binary_op(Lift *l) {
  binary(l, (Op)(l->node->arg & ~(uint32_t)BC_IN_PLACE));
  bc_peek(l, 1)->aux2 = (l->node->arg & BC_IN_PLACE) != 0;
}

void bc_lift_compare_op(Lift *l) {
  static const Op ops[] = {OP_LT, OP_LE, OP_EQ, OP_NE, OP_GT, OP_GE};
  binary(l, ops[l->node->arg]);
}

void bc_lift_is_op(Lift *l) { binary(l, l->node->arg ? OP_IS_NOT : OP_IS); }
void bc_lift_contains_op(Lift *l) { binary(l, l->node->arg ? OP_NOT_IN : OP_IN); }
void bc_lift_negative(Lift *l) { unary(l, OP_NEG); }
void bc_lift_positive(Lift *l) { unary(l, OP_POS); }
void bc_lift_invert(Lift *l) { unary(l, OP_INVERT); }
void bc_lift_not(Lift *l) { unary(l, OP_NOT); }
void bc_lift_to_bool(Lift *l) { unary(l, OP_TRUTH); }
