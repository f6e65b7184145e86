/* Rules of operator.*: the operators' own rules under function names. */
#include "typeinfer/ty.h"

static const Op operators[INTR_COUNT] = {
    [INTR_OPERATOR_ADD] = OP_ADD,
    [INTR_OPERATOR_SUB] = OP_SUB,
    [INTR_OPERATOR_MUL] = OP_MUL,
    [INTR_OPERATOR_TRUEDIV] = OP_TRUEDIV,
    [INTR_OPERATOR_FLOORDIV] = OP_FLOORDIV,
    [INTR_OPERATOR_MOD] = OP_MOD,
    [INTR_OPERATOR_POW] = OP_POW,
    [INTR_OPERATOR_MATMUL] = OP_MATMUL,
    [INTR_OPERATOR_LSHIFT] = OP_LSHIFT,
    [INTR_OPERATOR_RSHIFT] = OP_RSHIFT,
    [INTR_OPERATOR_AND] = OP_AND,
    [INTR_OPERATOR_OR] = OP_OR,
    [INTR_OPERATOR_XOR] = OP_XOR,
    [INTR_OPERATOR_IADD] = OP_ADD,
    [INTR_OPERATOR_ISUB] = OP_SUB,
    [INTR_OPERATOR_IMUL] = OP_MUL,
    [INTR_OPERATOR_ITRUEDIV] = OP_TRUEDIV,
    [INTR_OPERATOR_IFLOORDIV] = OP_FLOORDIV,
    [INTR_OPERATOR_IMOD] = OP_MOD,
    [INTR_OPERATOR_IPOW] = OP_POW,
    [INTR_OPERATOR_IMATMUL] = OP_MATMUL,
    [INTR_OPERATOR_ILSHIFT] = OP_LSHIFT,
    [INTR_OPERATOR_IRSHIFT] = OP_RSHIFT,
    [INTR_OPERATOR_IAND] = OP_AND,
    [INTR_OPERATOR_IOR] = OP_OR,
    [INTR_OPERATOR_IXOR] = OP_XOR,
    [INTR_OPERATOR_EQ] = OP_EQ,
    [INTR_OPERATOR_NE] = OP_NE,
    [INTR_OPERATOR_LT] = OP_LT,
    [INTR_OPERATOR_LE] = OP_LE,
    [INTR_OPERATOR_GT] = OP_GT,
    [INTR_OPERATOR_GE] = OP_GE,
    [INTR_OPERATOR_NEG] = OP_NEG,
    [INTR_OPERATOR_POS] = OP_POS,
    [INTR_OPERATOR_INVERT] = OP_INVERT,
    [INTR_OPERATOR_INV] = OP_INVERT,
};

Val ty_rule_operator1(Ty *ty, const TyCall *c) {
  Val a = c->args[0];
  switch (c->id) {
  case INTR_OPERATOR_NOT: return ty_not(ty, a);
  case INTR_OPERATOR_TRUTH: return ty_truth(ty, a);
  case INTR_OPERATOR_ABS: return ty_rule_abs(ty, c);
  case INTR_OPERATOR_INDEX: return ty_to_index(ty, a);
  default: return ty_unary(ty, operators[c->id], a);
  }
}

Val ty_rule_operator2(Ty *ty, const TyCall *c) {
  Val a = c->args[0], b = c->args[1];
  switch (c->id) {
  case INTR_OPERATOR_IS: return ty_is(ty, a, b, false);
  case INTR_OPERATOR_IS_NOT: return ty_is(ty, a, b, true);
  case INTR_OPERATOR_CONTAINS: return ty_contains(ty, b, a, false);
  case INTR_OPERATOR_GETITEM: return ty_getitem(ty, a, b);
  default: break;
  }
  bool in_place = c->id >= INTR_OPERATOR_IADD && c->id <= INTR_OPERATOR_IXOR;
  if (in_place && a.type->id == TY_ARRAY)
    return ty_change(ty, operators[c->id], a, b);
  return ty_binary(ty, operators[c->id], a, b);
}

Val ty_rule_setitem(Ty *ty, const TyCall *c) {
  (void)ty_setitem(ty, c->args[0], c->args[1], c->args[2]);
  return ty_none(ty);
}
