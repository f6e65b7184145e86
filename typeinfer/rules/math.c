/* Rules of math.*: float32 stays float32, everything else is computed in float64 and gives a Python
 * float. */
#include <math.h>

#include "typeinfer/resolve/resolve.h"
#include "typeinfer/rules/rules.h"
#include "typeinfer/value/value.h"

bool ty_is_narrow(const Type *t) {
  return t->id == TY_BOOL || t->id == TY_I8 || t->id == TY_I16 || t->id == TY_U8;
}

/* Numba's overloads: most functions have (float32…) and (float64…), and send integers alone to
 * float64; some take narrow integers for
 * float32 too, and pow has (float32, int32) besides. */
static TypeId numba_float_type(TyOverloads of, const Type *const *types, uint32_t n) {
  TypeId joined = types[0]->id;
  bool all_narrow = true;
  for (uint32_t k = 0; k < n; k++) { /* floats first: two narrow integers alone are an int64 */
    bool first = ty_is_float(types[k]) && ty_scalar_info[joined].kind != KIND_FLOAT;
    joined = first ? types[k]->id : joined;
    all_narrow &= ty_is_narrow(types[k]);
  }
  for (uint32_t k = 0; k < n; k++)
    joined = ty_promote(TYPING_NUMBA, joined, types[k]->id);
  const Type *a = types[0], *b = types[n > 1];
  bool low = a->id == TY_F32 || ty_is_narrow(a);
  if (of == TY_OF_POW && low && (b->id == TY_I32 || (a->id == TY_F32 && b->id == TY_U16)))
    return TY_F32;
  if (ty_scalar_info[joined].kind == KIND_FLOAT)
    return joined == TY_F32 ? TY_F32 : TY_F64;
  return of != TY_OF_FLOATS && all_narrow ? TY_F32 : TY_F64;
}

/* The type that numbers of those types are computed in. */
static const Type *float_of_types(Ty *ty, TyOverloads of, const Type *const *types, uint32_t n) {
  bool has_float32 = false, other = false;
  for (uint32_t k = 0; k < n; k++) {
    has_float32 |= types[k]->id == TY_F32;
    other |= types[k]->id != TY_F32 && !ty_is_weak(types[k]);
  }
  if (ty_policy(ty->cx)->narrow_is_float && n)
    return ty_id(ty, numba_float_type(of, types, n));
  return ty_id(ty, has_float32 && !other ? TY_F32 : TY_PYFLOAT);
}

/* The same of a call's arguments; NULL after an error. */
static const Type *float_type(Ty *ty, const TyCall *c, TyOverloads of) {
  const Type *types[TY_MAX_ARGS];
  uint32_t n = 0;
  for (uint32_t k = 0; k < c->n; k++) {
    if (!c->given[k])
      continue;
    types[n] = c->args[k].type;
    if (!ty_is_number(types[n]) || ty_is_complex(types[n])) {
      (void)ty_argument_type(ty, c, k, "a number");
      return NULL;
    }
    n++;
  }
  return float_of_types(ty, of, types, n);
}

static const Type *overload(Ty *ty, const TyCall *c, TyOverloads of, Val *out) {
  const Type *t = float_type(ty, c, of);
  for (uint32_t k = 0; t && k < c->n; k++)
    if (c->given[k])
      out[k] = ty_cast(ty, c->args[k], t);
  return t;
}

static const Type *arguments(Ty *ty, const TyCall *c, Val *out) {
  return overload(ty, c, TY_OF_FLOATS, out);
}

Val ty_rule_math_function(Ty *ty, const TyCall *c, TyOverloads of) {
  Val args[3];
  const Type *t = overload(ty, c, of, args);
  return t ? ty_intrinsic(ty, c->id, t, args, c->n) : BOTTOM;
}

/* Of more than two, two at a time. */
Val ty_rule_math_hypot(Ty *ty, const TyCall *c) {
  Val args[TY_MAX_ARGS];
  const Type *t = arguments(ty, c, args);
  if (!t)
    return BOTTOM;
  if (c->n < 2)
    return c->n ? ty_intrinsic(ty, INTR_MATH_FABS, t, args, 1) : ty_const_float(ty, 0);
  Val r = args[0];
  for (uint32_t k = 1; k < c->n; k++)
    r = ty_intrinsic(ty, c->id, t, (Val[]){r, args[k]}, 2);
  return r;
}

Val ty_rule_math_log(Ty *ty, const TyCall *c) {
  Val args[2];
  TyCall bound = *c;
  if (c->given[1] && c->args[1].type->id == TY_NONE)
    bound.given[1] = false;
  const Type *t = arguments(ty, &bound, args);
  if (!t)
    return BOTTOM;
  Val x = ty_intrinsic(ty, c->id, t, args, 1);
  return bound.given[1] ? ty_op2(ty, OP_TRUEDIV, t, x, ty_intrinsic(ty, c->id, t, args + 1, 1)) : x;
}

Val ty_rule_math_to_int(Ty *ty, const TyCall *c) {
  Val x;
  const Type *given = c->args[0].type;
  if (ty_policy(ty->cx)->float_floor)
    return ty_rule_math_function(ty, c, TY_OF_FLOATS);
  /* An int of Python's stays as it is; NumPy's have no __floor__ and go through a double, which
   * shows at 64 bits. */
  if (ty_is_number(given) && ty_is_integral(given) &&
      (ty_is_weak(given) || ty_scalar_info[given->id].bits < 64))
    return ty_cast_id(ty, c->args[0], TY_PYINT);
  const Type *t = arguments(ty, c, &x);
  return t ? ty_cast_id(ty, ty_intrinsic(ty, c->id, t, &x, 1), TY_PYINT) : BOTTOM;
}

Val ty_rule_math_scale(Ty *ty, const TyCall *c, double factor) {
  Val x;
  const Type *t = arguments(ty, c, &x);
  return t ? ty_op2(ty, OP_MUL, t, x, ty_scalar_const(ty, t->id, factor)) : BOTTOM;
}

Val ty_rule_math_pred(Ty *ty, const TyCall *c, bool of_integers) {
  Val x;
  if (ty_is_number(c->args[0].type) && ty_is_integral(c->args[0].type))
    return ty_const_bool(ty, of_integers);
  return arguments(ty, c, &x) ? ty_intrinsic(ty, c->id, ty_id(ty, TY_PYBOOL), &x, 1) : BOTTOM;
}

/* The exponent of ldexp: one that no int64 holds acts like any that overflows. */
Val ty_exponent(Ty *ty, Val v) {
  if (v.type->id == TY_U64) {
    Val most = ty_scalar_const(ty, TY_U64, INT32_MAX);
    Val large = ty_op2(ty, OP_GT, ty_id(ty, TY_PYBOOL), v, most);
    v = ty_select(ty, large, most, v);
  }
  return ty_cast_id(ty, v, TY_PYINT);
}

Val ty_rule_math_ldexp(Ty *ty, const TyCall *c) {
  TyCall first = *c;
  first.given[1] = false;
  Val args[2];
  const Type *t = overload(ty, &first, TY_OF_NARROW, args);
  if (!t)
    return BOTTOM;
  if (!ty_is_number(c->args[1].type) || !ty_is_integral(c->args[1].type))
    return ty_argument_type(ty, c, 1, "an integer");
  args[1] = ty_exponent(ty, c->args[1]);
  return ty_intrinsic(ty, c->id, t, args, 2);
}

static Val pair(Ty *ty, const TyCall *c, bool int_second) {
  Val x;
  const Type *t = overload(ty, c, int_second ? TY_OF_NARROW : TY_OF_FLOATS, &x);
  if (!t)
    return BOTTOM;
  const Type *types[] = {t, int_second ? ty_id(ty, TY_PYINT) : t};
  Val r = ty_intrinsic(ty, c->id, ty_tuple(ty->cx, types, 2), &x, 1);
  TypeId second = ty_policy(ty->cx)->device_int;
  if (!int_second || second == TY_PYINT)
    return r;
  Val parts[] = {ty_item(ty, r, 0), ty_cast_id(ty, ty_item(ty, r, 1), second)};
  return ty_make_tuple(ty, parts, 2);
}

Val ty_rule_math_frexp(Ty *ty, const TyCall *c) { return pair(ty, c, true); }
Val ty_rule_math_modf(Ty *ty, const TyCall *c) { return pair(ty, c, false); }

/* --- by functions of pyptx/_library.py --- */

static Val by_library(Ty *ty, const TyCall *c, const Val *args, uint32_t n) {
  return c->library ? ty_call_library(ty, c->library, args, n, NULL)
                    : TY_FAIL(ty, ERR_NOT_CALLABLE, c->name);
}

static bool is_integer(Ty *ty, const TyCall *c, uint32_t k) {
  const Type *t = c->args[k].type;
  if (ty_is_number(t) && ty_is_integral(t))
    return true;
  (void)ty_argument_type(ty, c, k, "an integer");
  return false;
}

/* gcd and lcm: of the absolute values, which uint64 holds whatever types they have; what the
 * library gives wraps to a Python int. */
Val ty_rule_math_divisor(Ty *ty, const TyCall *c) {
  Val args[TY_MAX_ARGS];
  for (uint32_t k = 0; k < c->n; k++) {
    if (!is_integer(ty, c, k))
      return BOTTOM;
    args[k] = ty_magnitude(ty, c->args[k]);
  }
  Val r = by_library(ty, c, args, c->n);
  return ty_is_bottom(r) ? r : ty_cast_id(ty, r, TY_PYINT);
}

/* Of integers that must not be negative: Python ints, or uint64. perm: the second may be left out,
 * f(n) is f(n, n). */
Val ty_rule_math_count(Ty *ty, const TyCall *c, bool perm) {
  Val args[2];
  for (uint32_t k = 0; k < c->n; k++) {
    bool all = perm && k && (!c->given[k] || c->args[k].type->id == TY_NONE);
    if (!all && !is_integer(ty, c, k))
      return BOTTOM;
    Val v = all ? c->args[0] : c->args[k];
    args[k] = v.type->id == TY_U64 ? v : ty_cast_id(ty, v, TY_PYINT);
  }
  Val r = by_library(ty, c, args, c->n);
  return ty_is_bottom(r) ? r : ty_cast_id(ty, r, TY_PYINT);
}

Val ty_rule_math_isclose(Ty *ty, const TyCall *c) {
  Val args[4];
  TyCall call = *c;
  for (uint32_t k = 2; k < 4; k++)
    if (!c->given[k]) {
      call.args[k] = ty_const_float(ty, k == 2 ? 1e-9 : 0);
      call.given[k] = true;
    }
  return arguments(ty, &call, args) ? by_library(ty, c, args, 4) : BOTTOM;
}

/* The types of a point's coordinates, which are appended. False after an error. */
static bool coordinate_types(Ty *ty, const TyCall *c, uint32_t k, const Type **types, uint32_t *n) {
  const Type *t = c->args[k].type;
  bool tuple = t->id == TY_TUPLE, array = t->id == TY_ARRAY && t->ndim == 1;
  bool ok = (tuple && t->n <= TY_MAX_ARGS) || array;
  for (uint32_t j = 0; ok && j < (tuple ? t->n : 1); j++) {
    const Type *one = types[(*n)++] = tuple ? t->elems[j] : t->elem;
    ok = ty_is_number(one) && !ty_is_complex(one);
  }
  if (!ok)
    (void)ty_argument_type(ty, c, k, "a tuple or an array of numbers");
  return ok;
}

/* Coordinates are converted before they are subtracted: a tuple's here, an array's as the library
 * reads them, to the type of its third argument. */
Val ty_rule_math_dist(Ty *ty, const TyCall *c) {
  const Type *types[2 * TY_MAX_ARGS];
  uint32_t n = 0;
  if (!coordinate_types(ty, c, 0, types, &n) || !coordinate_types(ty, c, 1, types, &n))
    return BOTTOM;
  const Type *p = c->args[0].type, *q = c->args[1].type,
             *t = float_of_types(ty, TY_OF_FLOATS, types, n);
  if (p->id == TY_TUPLE && q->id == TY_TUPLE && p->n != q->n)
    return TY_FAIL(ty, ERR_ARGUMENTS, c->name,
                   "both points must have the same number of dimensions");
  Val args[3] = {[2] = ty_scalar_const(ty, t->id, 0)};
  for (uint32_t k = 0; k < 2; k++) {
    args[k] = c->args[k];
    if (args[k].type->id != TY_TUPLE)
      continue;
    Val items[TY_MAX_ARGS];
    for (uint32_t j = 0; j < args[k].type->n; j++)
      items[j] = ty_cast(ty, ty_item(ty, args[k], j), t);
    args[k] = ty_make_tuple(ty, items, args[k].type->n);
  }
  return by_library(ty, c, args, 3);
}

/* start * a * b …: of a tuple's items each in its own type. */
Val ty_rule_math_prod(Ty *ty, const TyCall *c) {
  Val items = c->args[0], r = c->given[1] ? c->args[1] : ty_const_int(ty, 1);
  if (items.type->id != TY_TUPLE)
    return by_library(ty, c, (Val[]){items, r}, 2);
  for (uint32_t k = 0; k < items.type->n && !ty_is_bottom(r); k++)
    r = ty_binary(ty, OP_MUL, r, ty_item(ty, items, k));
  return r;
}
