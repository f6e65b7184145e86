/* Rules of math.*: float32 stays float32, everything else is computed in float64 and gives a Python float. */
#include <math.h>

#include "typeinfer/ty.h"

bool ty_is_narrow(const Type *t) {
  return t->id == TY_BOOL || t->id == TY_I8 || t->id == TY_I16 || t->id == TY_U8;
}

/* Numba's overloads: most functions have (float32…) and (float64…), and send integers alone to float64; some take narrow integers for
 * float32 too, and pow has (float32, int32) besides. */
static TypeId numba_float_type(const TyCall *c) {
  const Type *a = c->args[0].type, *b = c->n > 1 && c->given[1] ? c->args[1].type : a;
  TypeId joined = ty_promote(TYPING_NUMBA, a->id, b->id);
  bool all_narrow = ty_is_narrow(a) && ty_is_narrow(b);
  if (c->id == INTR_CUDA_FMA) {
    joined = ty_promote(TYPING_NUMBA, joined, c->args[2].type->id);
    all_narrow &= ty_is_narrow(c->args[2].type);
  }
  bool low = a->id == TY_F32 || ty_is_narrow(a);
  if (c->id == INTR_MATH_POW && low && (b->id == TY_I32 || (a->id == TY_F32 && b->id == TY_U16)))
    return TY_F32;
  if (ty_scalar_info[joined].kind == KIND_FLOAT)
    return joined == TY_F32 ? TY_F32 : TY_F64;
  bool takes_narrow = c->id == INTR_MATH_POW || c->id == INTR_MATH_FMOD ||
                      c->id == INTR_MATH_COPYSIGN || c->id == INTR_MATH_FREXP ||
                      c->id == INTR_MATH_LDEXP || c->id == INTR_CUDA_FMA || c->id == INTR_CUDA_CBRT;
  return takes_narrow && all_narrow ? TY_F32 : TY_F64;
}

/* The type that arguments are computed in; NULL after an error. */
static const Type *float_type(Ty *ty, const TyCall *c) {
  bool has_float32 = false, other = false;
  for (uint32_t k = 0; k < c->n; k++) {
    if (!c->given[k])
      continue;
    const Type *t = c->args[k].type;
    if (!ty_is_number(t) || ty_is_complex(t)) {
      (void)ty_argument_type(ty, c, k, "a number");
      return NULL;
    }
    has_float32 |= t->id == TY_F32;
    other |= t->id != TY_F32 && !ty_is_weak(t);
  }
  if (ty->cx->typing == TYPING_NUMBA && c->n)
    return ty_id(ty, numba_float_type(c));
  return ty_id(ty, has_float32 && !other ? TY_F32 : TY_PYFLOAT);
}

static const Type *arguments(Ty *ty, const TyCall *c, Val *out) {
  const Type *t = float_type(ty, c);
  for (uint32_t k = 0; t && k < c->n && c->given[k]; k++)
    out[k] = ty_cast(ty, c->args[k], t);
  return t;
}

static Val math_function(Ty *ty, const TyCall *c, uint32_t n) {
  Val args[3];
  const Type *t = arguments(ty, c, args);
  return t ? ty_intrinsic(ty, c->id, t, args, n) : BOTTOM;
}

Val ty_rule_math_f1(Ty *ty, const TyCall *c) { return math_function(ty, c, 1); }
Val ty_rule_math_f2(Ty *ty, const TyCall *c) { return math_function(ty, c, 2); }
Val ty_rule_math_f3(Ty *ty, const TyCall *c) { return math_function(ty, c, 3); }

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
  if (ty->cx->typing == TYPING_NUMBA)
    return math_function(ty, c, 1); /* floats, as on Numba's CUDA target */
  /* An int of Python's stays as it is; NumPy's have no __floor__ and go through a double, which shows at 64 bits. */
  if (ty_is_number(given) && ty_is_integral(given) &&
      (ty_is_weak(given) || ty_scalar_info[given->id].bits < 64))
    return ty_cast_id(ty, c->args[0], TY_PYINT);
  const Type *t = arguments(ty, c, &x);
  return t ? ty_cast_id(ty, ty_intrinsic(ty, c->id, t, &x, 1), TY_PYINT) : BOTTOM;
}

Val ty_rule_math_scale(Ty *ty, const TyCall *c) {
  Val x;
  const Type *t = arguments(ty, c, &x);
  double factor = c->id == INTR_MATH_DEGREES ? 180 / M_PI : M_PI / 180;
  return t ? ty_op2(ty, OP_MUL, t, x, ty_scalar_const(ty, t->id, factor)) : BOTTOM;
}

Val ty_rule_math_pred(Ty *ty, const TyCall *c) {
  Val x;
  if (ty_is_number(c->args[0].type) && ty_is_integral(c->args[0].type))
    return ty_const_bool(ty, c->id == INTR_MATH_ISFINITE);
  return arguments(ty, c, &x) ? ty_intrinsic(ty, c->id, ty_id(ty, TY_PYBOOL), &x, 1) : BOTTOM;
}

Val ty_rule_math_ldexp(Ty *ty, const TyCall *c) {
  TyCall first = *c;
  first.given[1] = false;
  Val args[2];
  const Type *t = arguments(ty, &first, args);
  if (!t)
    return BOTTOM;
  if (!ty_is_number(c->args[1].type) || !ty_is_integral(c->args[1].type))
    return ty_argument_type(ty, c, 1, "an integer");
  args[1] = ty_cast_id(ty, c->args[1], TY_PYINT);
  return ty_intrinsic(ty, c->id, t, args, 2);
}

static Val pair(Ty *ty, const TyCall *c, bool int_second) {
  Val x;
  const Type *t = arguments(ty, c, &x);
  if (!t)
    return BOTTOM;
  const Type *types[] = {t, int_second ? ty_id(ty, TY_PYINT) : t};
  Val r = ty_intrinsic(ty, c->id, ty_tuple(ty->cx, types, 2), &x, 1);
  if (!int_second || ty->cx->typing != TYPING_NUMBA)
    return r;
  Val parts[] = {ty_item(ty, r, 0), ty_cast_id(ty, ty_item(ty, r, 1), TY_I32)};
  return ty_make_tuple(ty, parts, 2);
}

Val ty_rule_math_frexp(Ty *ty, const TyCall *c) { return pair(ty, c, true); }
Val ty_rule_math_modf(Ty *ty, const TyCall *c) { return pair(ty, c, false); }
