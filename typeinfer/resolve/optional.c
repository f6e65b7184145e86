/* Optional: a value that may be None, where None and something else meet in a variable, a
 * conditional expression or the results of a function.
 *
 * It is a pair: whether there is a value, and the value, which is all zeros where there is none.
 * `is None`, ==, its truth, and what hands it on (variables, results, arguments of Python
 * functions, tuples) take it as it is. Everything else takes the value, behind a check that there
 * is one: TypeError on the host device and with debug=True, zeros elsewhere, as of a variable that
 * is unset. What would do something else with None (texts, slices, isinstance) asks for a test
 * first. */
#include "typeinfer/resolve/resolve.h"
#include "typeinfer/value/value.h"

static Val is_there(Ty *ty, Val v) {
  return v.type->id == TY_OPTIONAL ? ty_item(ty, v, 0) : ty_const_bool(ty, v.type->id != TY_NONE);
}

Val ty_given(Ty *ty, Val v) {
  if (ty_is_bottom(v) || v.type->id != TY_OPTIONAL)
    return v;
  ty_check(ty, ty_item(ty, v, 0), "TypeError",
           "None is used as a value: test it first, if x is not None", NULL, 0);
  Val value = ty_item(ty, v, 1);
  value.src = v.src;
  return value;
}

Val ty_tested(Ty *ty, Val v, const char *use) {
  if (ty_is_bottom(v) || v.type->id != TY_OPTIONAL)
    return v;
  return TY_FAIL(ty, ERR_MAYBE_NONE, use, TY_PRETTY(ty, v));
}

/* The values of two that are there are compared; of None there are zeros, which are equal. */
Val ty_equal_optional(Ty *ty, Val a, Val b) {
  Val there = is_there(ty, a), other = is_there(ty, b);
  if (a.type->id == TY_NONE || b.type->id == TY_NONE)
    return ty_not(ty, a.type->id == TY_NONE ? other : there);
  Val x = a.type->id == TY_OPTIONAL ? ty_item(ty, a, 1) : a;
  Val y = b.type->id == TY_OPTIONAL ? ty_item(ty, b, 1) : b;
  Val same = ty_truth(ty, ty_equal(ty, OP_EQ, x, y));
  return ty_both(ty, OP_AND, ty_truth(ty, ty_int_test(ty, OP_EQ, there, other)), same);
}

Val ty_is_none(Ty *ty, Val a, Val b, bool negate) {
  Val v = a.type->id == TY_OPTIONAL ? a : b, other = a.type->id == TY_OPTIONAL ? b : a;
  if (other.type->id != TY_NONE)
    return ty_bad_operands(ty, negate ? OP_IS_NOT : OP_IS, a, b, "test it first: if x is not None");
  Val there = ty_item(ty, v, 0);
  return negate ? there : ty_not(ty, there);
}

Val ty_optional_truth(Ty *ty, Val v) {
  return ty_both(ty, OP_AND, ty_item(ty, v, 0), ty_truth(ty, ty_item(ty, v, 1)));
}
