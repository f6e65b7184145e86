/* Optional: a value that may be None, where None and something else meet in a variable, a conditional expression or the results of a
 * function.
 *
 * It is a pair: whether there is a value, and the value, which is all zeros where there is none. `is None`, ==, its truth, and what hands it
 * on (variables, results, arguments of Python functions, tuples) take it as it is. Everything else takes the value, behind a check
 * that there is one: TypeError on the host device and with debug=True, zeros elsewhere, as of a variable that is unset. What would do
 * something else with None (texts, slices, isinstance) asks for a test first. */
#include "typeinfer/ty.h"

static bool can_be_optional(const Type *t) {
  bool can = ty_is_value(t) || t->id == TY_ENUM || t->id == TY_TUPLE;
  for (uint32_t k = 0; t->id == TY_TUPLE && can && k < t->n; k++)
    can = t->elems[k]->id == TY_NONE || t->elems[k]->id == TY_OPTIONAL ||
          can_be_optional(t->elems[k]);
  return can;
}

static const Type *optional(Ty *ty, const Type *t) {
  const Type *parts[] = {ty_id(ty, TY_PYBOOL), t};
  return ty_list_like(ty->cx, TY_OPTIONAL, parts, 2);
}

const Type *ty_without_none(const Type *t) {
  return t->id == TY_NONE ? NULL : t->id == TY_OPTIONAL ? t->elems[1] : t;
}

bool ty_has_none(const Type *t) { return t->id == TY_NONE || t->id == TY_OPTIONAL; }

const Type *ty_join_none(Ty *ty, const Type *const *types, uint32_t n) {
  const Type **rest = CX_ARRAY(ty->cx, const Type *, n + 1);
  uint32_t some = 0;
  for (uint32_t k = 0; k < n; k++)
    if (ty_without_none(types[k]))
      rest[some++] = ty_without_none(types[k]);
  const Type *t = some ? ty_join_all(ty, rest, some) : NULL;
  if (!some)
    return types[0];
  return t && can_be_optional(t) ? optional(ty, t) : NULL;
}

const Type *ty_map_optional(Ty *ty, const Type *t, const Type *(*map)(Ty *, const Type *)) {
  return optional(ty, map(ty, t->elems[1]));
}

static Val zeros(Ty *ty, const Type *t) {
  if (t->id == TY_NONE)
    return ty_none(ty);
  if (ty_is_complex(t))
    return ty_complex(ty, t, ty_scalar_const(ty, ty_part_id(t->id), 0),
                      ty_scalar_const(ty, ty_part_id(t->id), 0));
  if (ty_is_number(t))
    return ty_scalar_const(ty, t->id, 0);
  if (ty_is_date(t) || t->id == TY_ENUM)
    return (Val){.type = t, .konst = fz_int(ty->cx, 0)};
  const Type *const *elems;
  uint32_t n = ty_parts(ty, t, &elems);
  Val *items = CX_ARRAY(ty->cx, Val, n + 1);
  for (uint32_t k = 0; k < n; k++)
    items[k] = zeros(ty, elems[k]);
  return ty_pack(ty, t, items, n);
}

Val ty_to_optional(Ty *ty, Val v, const Type *to) {
  Val parts[] = {ty_const_bool(ty, v.type->id != TY_NONE), BOTTOM};
  parts[1] = v.type->id == TY_NONE ? zeros(ty, to->elems[1]) : ty_cast(ty, v, to->elems[1]);
  return ty_pack(ty, to, parts, 2);
}

Val ty_is_there(Ty *ty, Val v) {
  return v.type->id == TY_OPTIONAL ? ty_item(ty, v, 0) : ty_const_bool(ty, v.type->id != TY_NONE);
}

Val ty_given(Ty *ty, Val v) {
  if (is_bottom(v) || v.type->id != TY_OPTIONAL)
    return v;
  ty_check(ty, ty_item(ty, v, 0), "TypeError",
           "None is used as a value: test it first, if x is not None", NULL, 0);
  Val value = ty_item(ty, v, 1);
  value.src = v.src;
  return value;
}

Val ty_tested(Ty *ty, Val v, const char *use) {
  if (is_bottom(v) || v.type->id != TY_OPTIONAL)
    return v;
  return TY_FAIL(ty, ERR_MAYBE_NONE, use, TY_PRETTY(ty, v));
}

/* The values of two that are there are compared; of None there are zeros, which are equal. */
Val ty_equal_optional(Ty *ty, Val a, Val b) {
  Val there = ty_is_there(ty, a), other = ty_is_there(ty, b);
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
