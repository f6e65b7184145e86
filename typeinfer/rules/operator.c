/* Rules of operator.*: the operators' own rules under function names. */
#include "typeinfer/resolve/resolve.h"
#include "typeinfer/rules/rules.h"
#include "typeinfer/value/value.h"

Val ty_rule_operator1(Ty *ty, const TyCall *c, Op op) { return ty_unary(ty, op, c->args[0]); }

Val ty_rule_operator2(Ty *ty, const TyCall *c, Op op) {
  return ty_binary(ty, op, c->args[0], c->args[1]);
}

Val ty_rule_in_place(Ty *ty, const TyCall *c, Op op) {
  Val a = c->args[0], b = c->args[1];
  return a.type->id == TY_ARRAY ? ty_change(ty, op, a, b) : ty_binary(ty, op, a, b);
}

Val ty_rule_not(Ty *ty, const TyCall *c) { return ty_not(ty, c->args[0]); }
Val ty_rule_truth(Ty *ty, const TyCall *c) { return ty_truth(ty, c->args[0]); }
Val ty_rule_index(Ty *ty, const TyCall *c) { return ty_to_index(ty, c->args[0]); }

Val ty_rule_is(Ty *ty, const TyCall *c, bool negate) {
  return ty_is(ty, c->args[0], c->args[1], negate);
}

Val ty_rule_contains(Ty *ty, const TyCall *c) {
  return ty_contains(ty, c->args[1], c->args[0], false);
}

Val ty_rule_getitem(Ty *ty, const TyCall *c) { return ty_getitem(ty, c->args[0], c->args[1]); }

Val ty_rule_setitem(Ty *ty, const TyCall *c) {
  (void)ty_setitem(ty, c->args[0], c->args[1], c->args[2]);
  return ty_none(ty);
}
