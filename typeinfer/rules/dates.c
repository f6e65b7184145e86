/* Rules of dates: np.datetime64 and np.timedelta64 as functions, astype between dates and numbers,
 * and NumPy's ufuncs of which an argument is a date. The arithmetic is value/dates.c's. */
#include <string.h>

#include "typeinfer/resolve/resolve.h"
#include "typeinfer/rules/rules.h"
#include "typeinfer/value/dates.h"
#include "typeinfer/value/value.h"

/* --- np.timedelta64(5, 's'), np.datetime64(x, 'D'), x.astype('datetime64[D]') --- */

/* A unit as NumPy takes it: 's', '25s', ('s', 25). */
static bool read_unit(Ty *ty, Val v, DateUnit *unit, int32_t *multiple) {
  int64_t many = 1;
  bool pair = v.type->id == TY_TUPLE && v.type->n == 2;
  Val name = pair ? ty_item(ty, v, 0) : v;
  const char *text = name.konst && name.konst->kind == FZ_STR ? name.konst->text : "?";
  if (!ty_parse_unit(&text, unit, multiple) || *text)
    return false;
  if (pair &&
      (!fz_get_int(ty_item(ty, v, 1).konst, &many) || many <= 0 || many > INT32_MAX / *multiple))
    return false;
  *multiple *= (int32_t)many;
  return true;
}

static Val bad_call(Ty *ty, TypeId id, const char *what) {
  return TY_FAIL(ty, ERR_ARGUMENTS, id == TY_DATETIME ? "datetime64" : "timedelta64", what);
}

static Val count(Ty *ty, int64_t v) { return ty_constant(ty, fz_int(ty->cx, v), TY_I64); }

Val ty_make_date(Ty *ty, TypeId id, const Val *args, uint32_t n) {
  DateUnit unit = DATE_GENERIC;
  int32_t multiple = 1;
  for (uint32_t k = 0; k < n; k++)
    if (ty_is_bottom(args[k]))
      return BOTTOM;
  if (n > 2)
    return bad_call(ty, id, "it takes a value and a unit");
  if (n == 2 && !read_unit(ty, args[1], &unit, &multiple))
    return bad_call(
        ty, id,
        "the unit must be known when the kernel is compiled: one of NumPy's, as 'D', '25s', ('s', 25)");
  const Type *t = ty_date(ty->cx, id, unit, multiple);
  if (!n)
    return ty_date_of(ty, t, id == TY_DATETIME ? count(ty, INT64_MIN) : count(ty, 0));
  Val v = args[0];
  if (v.konst && v.konst->kind == FZ_STR && !strcasecmp(v.konst->text, "NaT"))
    return ty_date_of(ty, t, count(ty, INT64_MIN));
  if (v.type->id == TY_STR)
    return bad_call(
        ty, id,
        "texts are read on the host: make it a global, START = np.datetime64('2020-01-01')");
  if (v.type->id == id)
    return n == 2 ? ty_date_cast(ty, v, t) : v;
  if (!ty_is_integral(v.type))
    return bad_call(ty, id,
                    arena_printf(&ty->cx->arena, "the value must be an integer or %s, not %s",
                                 id == TY_DATETIME ? "a datetime64" : "a timedelta64",
                                 TY_PRETTY(ty, v)));
  if (id == TY_DATETIME && n < 2)
    return bad_call(ty, id, "an integer needs a unit: np.datetime64(x, 'D')");
  return ty_date_cast(ty, v, t);
}

Val ty_date_astype(Ty *ty, Val v, Val dtype) {
  const Type *to = ty_date_type(ty, dtype);
  if (to && to->unit == DATE_GENERIC && to->id == v.type->id)
    return v; /* keeps its unit, as in NumPy */
  if (to && ty_is_float(v.type))
    return ty_date_of_float(ty, to, ty_cast_id(ty, v, TY_F64));
  if (to)
    return ty_date_cast(ty, v, to);
  if (dtype.type->id != TY_DTYPE || dtype.type->frozen->type >= TY_SCALARS)
    return TY_FAIL(ty, ERR_DTYPE, "astype", TY_PRETTY(ty, dtype));
  Val raw = ty_date_raw(ty, v);
  return ty_convert(ty, ty_strengthen(dtype.type->frozen->type), &raw, 1);
}

/* --- ufuncs --- */

bool ty_is_date_call(const TyCall *c) {
  bool any = false;
  for (uint32_t k = 0; k < c->n; k++) {
    if (!ty_is_value(c->args[k].type))
      return false;
    any |= ty_is_date(c->args[k].type);
  }
  return any;
}

Val ty_rule_np_isnat(Ty *ty, const TyCall *c) {
  return ty_is_date_call(c) ? ty_cast_id(ty, ty_is_nat(ty, c->args[0]), TY_BOOL)
                            : ty_argument_type(ty, c, 0, "a datetime64 or a timedelta64");
}
