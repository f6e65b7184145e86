/* Rules of functions of complex numbers: cmath.*, and NumPy's ufuncs where an argument is complex.
 *
 * What is more than a few operations is Python in pyptx/_complex.py: functions of the parts that
 * give the parts, or a tuple of them. They come with the compilation (Cx.library) and are called by
 * name, so that they are typed, shared and inlined like the user's own. */
#include <math.h>
#include <string.h>

#include "typeinfer/engine/door.h"
#include "typeinfer/resolve/resolve.h"
#include "typeinfer/rules/numpy.h"
#include "typeinfer/rules/rules.h"
#include "typeinfer/value/value.h"

/* --- the library --- */

Val ty_complex_function(Ty *ty, const char *name, const Val *z, uint32_t n) {
  const Frozen *f = ty->cx->library ? fz_attr(ty->cx->library, name) : NULL;
  if (!f)
    cx_bug(ty->cx, "no library of complex functions has %s", name);
  Val parts[4] = {0};
  for (uint32_t k = 0; k < n; k++) {
    parts[2 * k] = ty_part(ty, z[k], 0);
    parts[2 * k + 1] = ty_part(ty, z[k], 1);
  }
  Val r = ty_call_spec(ty, f->func, parts, 2 * n);
  if (ty_is_bottom(r))
    return BOTTOM;
  const Type *part = ty_id(ty, ty_part_id(z->type->id));
  Val re = ty_cast(ty, ty_item(ty, r, 0), part);
  return ty_complex(ty, z->type, re, ty_cast(ty, ty_item(ty, r, 1), part));
}

/* --- predicates of both parts --- */

static Val part_pred(Ty *ty, IntrinsicId id, Val x) {
  return ty_intrinsic(ty, id, ty_id(ty, TY_PYBOOL), &x, 1);
}

Val np_complex_pred(Ty *ty, IntrinsicId id, Val z) {
  Val re = part_pred(ty, id, ty_part(ty, z, 0)), im = part_pred(ty, id, ty_part(ty, z, 1));
  return ty_both(ty, id == INTR_MATH_ISFINITE ? OP_AND : OP_OR, re, im);
}

/* --- cmath --- */

/* Arguments as complex numbers of one type: complex64 where a complex64 or float32 is among them
 * and no other strong number. */
static const Type *arguments(Ty *ty, const TyCall *c, Val *out) {
  bool narrow = false, other = false;
  for (uint32_t k = 0; k < c->n && c->given[k]; k++) {
    const Type *t = c->args[k].type;
    if (!ty_is_number(t)) {
      (void)ty_argument_type(ty, c, k, "a number");
      return NULL;
    }
    bool single = t->id == TY_F32 || t->id == TY_C64 ||
                  (ty_policy(ty->cx)->narrow_is_float && ty_is_narrow(t));
    narrow |= single;
    other |= !single && !ty_is_weak(t);
  }
  const Type *t = ty_id(ty, narrow && !other ? TY_C64 : TY_PYCOMPLEX);
  for (uint32_t k = 0; k < c->n && c->given[k]; k++)
    out[k] = ty_to_complex(ty, c->args[k], t);
  return t;
}

Val np_complex_phase(Ty *ty, Val z) {
  Val parts[2];
  parts[1] = ty_part(ty, z, 0);
  parts[0] = ty_part(ty, z, 1);
  return ty_intrinsic(ty, INTR_MATH_ATAN2, parts[0].type, parts, 2);
}

Val ty_rule_cmath_function(Ty *ty, const TyCall *c, const char *name) {
  Val z;
  return arguments(ty, c, &z) ? ty_complex_function(ty, name, &z, 1) : BOTTOM;
}

Val ty_rule_cmath_log(Ty *ty, const TyCall *c) {
  Val z[2];
  TyCall bound = *c;
  if (c->given[1] && c->args[1].type->id == TY_NONE)
    bound.given[1] = false;
  if (!arguments(ty, &bound, z))
    return BOTTOM;
  Val r = ty_complex_function(ty, "log", z, 1);
  return bound.given[1] ? ty_binary(ty, OP_TRUEDIV, r, ty_complex_function(ty, "log", z + 1, 1))
                        : r;
}

Val ty_rule_cmath_phase(Ty *ty, const TyCall *c) {
  Val z;
  return arguments(ty, c, &z) ? np_complex_phase(ty, z) : BOTTOM;
}

Val ty_rule_cmath_polar(Ty *ty, const TyCall *c) {
  Val z, pair[2];
  if (!arguments(ty, c, &z))
    return BOTTOM;
  pair[0] = ty_complex_abs(ty, z);
  pair[1] = np_complex_phase(ty, z);
  return ty_make_tuple(ty, pair, 2);
}

Val ty_rule_cmath_rect(Ty *ty, const TyCall *c) {
  Val z[2];
  for (uint32_t k = 0; k < 2; k++)
    if (!ty_is_number(c->args[k].type) || ty_is_complex(c->args[k].type))
      return ty_argument_type(ty, c, k, "a real number");
  const Type *t = arguments(ty, c, z);
  Val polar = ty_complex(ty, t, ty_part(ty, z[0], 0), ty_part(ty, z[1], 0));
  return ty_complex_function(ty, "rect", &polar, 1);
}

Val ty_rule_cmath_pred(Ty *ty, const TyCall *c, IntrinsicId of_part) {
  Val z;
  return arguments(ty, c, &z) ? np_complex_pred(ty, of_part, z) : BOTTOM;
}

/* a and b in their type, with real tolerances of its parts' type. */
Val ty_rule_cmath_isclose(Ty *ty, const TyCall *c) {
  Val args[4];
  TyCall call = *c;
  for (uint32_t k = 2; k < 4; k++) {
    if (!c->given[k])
      call.args[k] = ty_const_float(ty, k == 2 ? 1e-9 : 0);
    else if (!ty_is_number(c->args[k].type) || ty_is_complex(c->args[k].type))
      return ty_argument_type(ty, c, k, "a real number");
    call.given[k] = true;
  }
  if (!c->library)
    return TY_FAIL(ty, ERR_NOT_CALLABLE, c->name);
  if (!arguments(ty, &call, args))
    return BOTTOM;
  args[2] = ty_part(ty, args[2], 0);
  args[3] = ty_part(ty, args[3], 0);
  return ty_call_library(ty, c->library, args, 4, NULL);
}

/* --- NumPy --- */

bool ty_is_complex_call(const TyCall *c) {
  bool any = false;
  for (uint32_t k = 0; k < c->n; k++) {
    if (c->given[k] && !ty_is_number(c->args[k].type))
      return false;
    any |= c->given[k] && ty_is_complex(c->args[k].type);
  }
  return any;
}

void np_complex_operands(Ty *ty, const TyCall *c, Val *out) {
  TypeId t = c->args[0].type->id;
  for (uint32_t k = 1; k < c->n; k++)
    t = ty_promote(ty->cx->typing, t, c->args[k].type->id);
  for (uint32_t k = 0; k < c->n; k++)
    out[k] = ty_to_complex(ty, c->args[k], ty_id(ty, ty_strengthen(t)));
}

Val np_complex_extreme(Ty *ty, const TyCall *c, bool low, bool skips) {
  Val x[2];
  np_complex_operands(ty, c, x);
  Val first = ty_complex_ordered(ty, low ? OP_LE : OP_GE, x[0], x[1]);
  first = ty_both(ty, OP_OR, first, np_complex_pred(ty, INTR_MATH_ISNAN, x[skips]));
  return ty_select(ty, first, x[0], x[1]);
}

Val np_complex_rint(Ty *ty, Val z) {
  Val parts[2];
  for (uint32_t k = 0; k < 2; k++) {
    Val x = ty_part(ty, z, k);
    parts[k] = ty_intrinsic(ty, INTR_PY_ROUND, x.type, &x, 1);
  }
  return ty_complex(ty, z.type, parts[0], parts[1]);
}
