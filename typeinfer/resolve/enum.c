/* Enum: members of enum.Enum classes. A member is stored as its number in the order of definition,
 * a pyint; comparisons compare numbers, .value looks the number up. Members that are numbers or
 * strings themselves (IntEnum, Flag, StrEnum) are these. */
#include <string.h>

#include "typeinfer/resolve/resolve.h"
#include "typeinfer/value/value.h"

static Val number_of(Ty *ty, Val member) {
  if (member.konst)
    return ty_const_int(ty, member.konst->i);
  return (Val){.type = ty_id(ty, TY_PYINT), .ins = member.ins};
}

/* a == b of two members of one class. */
Val ty_equal_members(Ty *ty, Val a, Val b, bool negate) {
  Val x = number_of(ty, a), y = number_of(ty, b);
  return ty_binary(ty, negate ? OP_NE : OP_EQ, x, y);
}

static Val all_values(Ty *ty, const Frozen *class) {
  Val *items = CX_ARRAY(ty->cx, Val, class->n + 1);
  for (uint32_t k = 0; k < class->n; k++) {
    if (!class->items[k])
      return BOTTOM;
    items[k] = ty_const(ty, class->items[k]);
    if (ty_is_bottom(items[k]) || !ty_is_number(items[k].type))
      return BOTTOM;
  }
  return ty_make_tuple(ty, items, class->n);
}

/* The value of a member known at run time only: of the type that all values promote to. */
static Val value_at(Ty *ty, Val member) {
  Val values = all_values(ty, member.type->frozen);
  if (ty_is_bottom(values))
    return TY_FAIL(ty, ERR_ENUM_VALUE, "value", member.type->frozen->text);
  values = ty_iter(ty, values);
  if (ty_is_bottom(values))
    return BOTTOM;
  return ty_op2(ty, OP_TUPLE_INDEX, values.type->elems[0], values, number_of(ty, member));
}

Val ty_enum_attribute(Ty *ty, Val member, const char *name) {
  const Frozen *k = member.konst;
  bool value = !strcmp(name, "value") || !strcmp(name, "_value_");
  if (value)
    return k ? ty_const(ty, k->items[0]->items[k->i]) : value_at(ty, member);
  if (!strcmp(name, "name") || !strcmp(name, "_name_"))
    return k ? ty_const(ty, fz_str(ty->cx, k->items[0]->names[k->i]))
             : TY_FAIL(ty, ERR_ENUM_VALUE, "name", member.type->frozen->text);
  return TY_FAIL(ty, ERR_NO_ATTRIBUTE, TY_PRETTY(ty, member), name, "");
}

/* The members of a class, which is a sequence of them, as a tuple. */
Val ty_enum_members(Ty *ty, const Frozen *class) {
  Val *items = CX_ARRAY(ty->cx, Val, class->n + 1);
  for (uint32_t k = 0; k < class->n; k++) {
    items[k] = ty_const(ty, fz_attr(class, class->names[k]));
    if (ty_is_bottom(items[k]))
      return BOTTOM;
  }
  return ty_make_tuple(ty, items, class->n);
}
