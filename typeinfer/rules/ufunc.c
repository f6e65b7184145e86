/* Rules of numpy.*, continued: ufuncs that are made of others, and those with two results. */
#include <math.h>
#include <string.h>

#include "typeinfer/resolve/resolve.h"
#include "typeinfer/rules/numpy.h"
#include "typeinfer/rules/rules.h"
#include "typeinfer/value/value.h"

static Val number(Ty *ty, Val like, double v) { return ty_scalar_const(ty, like.type->id, v); }
static Val compare(Ty *ty, Op op, Val a, Val b) {
  return ty_op2(ty, op, ty_id(ty, TY_PYBOOL), a, b);
}
static Val op2(Ty *ty, Op op, Val a, Val b) { return ty_op2(ty, op, a.type, a, b); }
static Val call1(Ty *ty, IntrinsicId id, Val x) { return ty_intrinsic(ty, id, x.type, &x, 1); }

/* As NumPy computes with 16 bits what takes more than one operation: in float32. The result is
 * rounded to x's type. */
static Val widened(Ty *ty, Val x) { return ty_bits(x.type) < 32 ? ty_cast_id(ty, x, TY_F32) : x; }

/* nan where x1 is one, else 0 below 0, x2 at 0, 1 above. */
static Val heaviside(Ty *ty, Val x1, Val x2) {
  Val zero = number(ty, x1, 0);
  Val r = ty_select(ty, compare(ty, OP_GT, x1, zero), number(ty, x1, 1), x1);
  r = ty_select(ty, compare(ty, OP_LT, x1, zero), zero, r);
  return ty_select(ty, compare(ty, OP_EQ, x1, zero), x2, r);
}

/* log(e**x + e**y) by the larger of the two and the distance to the other; log(2) on top where they
 * are equal, infinities too. */
static Val log_add(Ty *ty, Val x, Val y, bool base2) {
  Val zero = number(ty, x, 0), distance = op2(ty, OP_SUB, x, y);
  Val larger = ty_select(ty, compare(ty, OP_GT, distance, zero), x, y);
  Val minus = ty_op1(ty, OP_NEG, x.type, call1(ty, INTR_MATH_FABS, distance));
  Val rest = call1(ty, INTR_MATH_LOG1P, call1(ty, base2 ? INTR_MATH_EXP2 : INTR_MATH_EXP, minus));
  if (base2)
    rest = op2(ty, OP_MUL, rest, number(ty, x, M_LOG2E));
  Val twice = op2(ty, OP_ADD, x, number(ty, x, base2 ? 1 : M_LN2));
  return ty_select(ty, compare(ty, OP_EQ, x, y), twice, op2(ty, OP_ADD, larger, rest));
}

Val ty_rule_np_heaviside(Ty *ty, const TyCall *c) {
  Val x[2];
  return np_float_arguments(ty, c, x) ? heaviside(ty, x[0], x[1]) : BOTTOM;
}

Val ty_rule_np_logaddexp(Ty *ty, const TyCall *c, bool base2) {
  Val x[2];
  const Type *t = np_float_arguments(ty, c, x);
  return t ? ty_cast(ty, log_add(ty, widened(ty, x[0]), widened(ty, x[1]), base2), t) : BOTTOM;
}

/* The distance to the next number away from zero; of float16, as NumPy has it, to the next one
 * above. */
Val ty_rule_np_spacing(Ty *ty, const TyCall *c) {
  Val x;
  if (!np_float_arguments(ty, c, &x))
    return BOTTOM;
  Val out[] = {number(ty, x, INFINITY), x};
  Val pair[] = {x, out[0]};
  if (x.type->id == TY_F16)
    pair[1] = ty_select(ty, compare(ty, OP_EQ, x, number(ty, x, -INFINITY)), x, out[0]);
  else
    pair[1] = ty_intrinsic(ty, INTR_MATH_COPYSIGN, x.type, out, 2);
  pair[1] = ty_select(ty, compare(ty, OP_EQ, x, number(ty, x, 0)), out[0], pair[1]);
  return op2(ty, OP_SUB, ty_intrinsic(ty, INTR_MATH_NEXTAFTER, x.type, pair, 2), x);
}

Val ty_rule_np_float_power(Ty *ty, const TyCall *c) {
  Val x[2];
  if (ty_is_complex_call(c)) {
    x[0] = ty_cast_id(ty, c->args[0], TY_C128);
    return ty_binary(ty, OP_POW, x[0], ty_cast_id(ty, c->args[1], TY_C128));
  }
  if (!np_float_arguments(ty, c, x))
    return BOTTOM;
  return ty_binary(ty, OP_POW, ty_cast_id(ty, c->args[0], TY_F64),
                   ty_cast_id(ty, c->args[1], TY_F64));
}

Val ty_rule_np_divmod(Ty *ty, const TyCall *c) {
  Val x[2] = {c->args[0], c->args[1]};
  if (!ty_is_date_call(c) && !np_operands(ty, c, x))
    return BOTTOM;
  Val pair[] = {ty_binary(ty, OP_FLOORDIV, x[0], x[1]), ty_binary(ty, OP_MOD, x[0], x[1])};
  return ty_make_tuple(ty, pair, 2);
}

Val ty_rule_np_modf(Ty *ty, const TyCall *c) {
  Val x;
  const Type *t = np_float_arguments(ty, c, &x);
  if (!t)
    return BOTTOM;
  x = widened(ty, x);
  const Type *types[] = {x.type, x.type};
  Val r = ty_intrinsic(ty, INTR_MATH_MODF, ty_tuple(ty->cx, types, 2), &x, 1);
  Val pair[] = {ty_cast(ty, ty_item(ty, r, 0), t), ty_cast(ty, ty_item(ty, r, 1), t)};
  return ty_make_tuple(ty, pair, 2);
}

Val ty_rule_np_frexp(Ty *ty, const TyCall *c) {
  Val x;
  const Type *t = np_float_arguments(ty, c, &x);
  if (!t)
    return BOTTOM;
  x = widened(ty, x);
  const Type *types[] = {x.type, ty_id(ty, TY_PYINT)};
  Val r = ty_intrinsic(ty, INTR_MATH_FREXP, ty_tuple(ty->cx, types, 2), &x, 1);
  Val pair[] = {ty_cast(ty, ty_item(ty, r, 0), t), ty_cast_id(ty, ty_item(ty, r, 1), TY_I32)};
  return ty_make_tuple(ty, pair, 2);
}

/* The type is x1's alone, but that a weak integer has no say beside a strong x2 that is no bool. */
Val ty_rule_np_ldexp(Ty *ty, const TyCall *c) {
  TyCall first = *c;
  first.n = 1;
  Val args[2], x2 = c->args[1];
  if (!np_float_arguments(ty, &first, args))
    return BOTTOM;
  if (!ty_is_number(x2.type) || !ty_is_integral(x2.type))
    return ty_argument_type(ty, c, 1, "an integer");
  const Type *t = args[0].type;
  if (c->args[0].type->id == TY_PYINT && !ty_is_weak(x2.type) && ty_kind(x2.type) != KIND_BOOL)
    t = ty_id(ty, TY_F16);
  args[0] = widened(ty, ty_cast(ty, c->args[0], t));
  args[1] = ty_exponent(ty, x2);
  return ty_cast(ty, ty_intrinsic(ty, INTR_MATH_LDEXP, args[0].type, args, 2), t);
}

Val ty_rule_np_bitwise_count(Ty *ty, const TyCall *c) {
  if (!ty_is_number(c->args[0].type) || !ty_is_integral(c->args[0].type))
    return ty_argument_type(ty, c, 0, "an integer");
  return ty_bit_count(ty, c->args[0], TY_U8);
}

/* ndim, size, shape of what is an array or a number. */
Val ty_rule_np_extent(Ty *ty, const TyCall *c, const char *name, int of_number) {
  Val a = c->args[0];
  if (a.type->id == TY_ARRAY)
    return ty_getattr(ty, a, name);
  return ty_is_number(a.type) ? ty_const_int(ty, of_number)
                              : ty_argument_type(ty, c, 0, "an array or a number");
}

Val ty_rule_np_shape(Ty *ty, const TyCall *c) {
  return ty_is_number(c->args[0].type) ? ty_make_tuple(ty, NULL, 0)
                                       : ty_rule_np_extent(ty, c, "shape", 0);
}

/* --- arrays --- */

static bool is_output(Val v) {
  return v.type && v.type->id == TY_ARRAY && v.type->ndim && v.type->elem->id != TY_RECORD;
}

/* Arrays are taken as their elements are. */
static Val element_of(Val v) {
  return v.type->id == TY_ARRAY ? (Val){.type = v.type->elem} : (Val){.type = v.type};
}

bool ty_ufunc_into(Ty *ty, Val callee, const Val *args, uint32_t n, const Frozen *names,
                   Val *result) {
  const Frozen *f = callee.type->frozen;
  if (callee.type->id != TY_FUNC || f->kind != FZ_INTRINSIC || !f->func ||
      strncmp(ir_intrinsics[f->i].path, "numpy.", 6) || n < 2 || n > 3 || !is_output(args[n - 1]))
    return false;
  uint32_t nin = n - 1;
  if (f->func->code->argcount != nin + 2 ||
      (names && (names->n != 1 || strcmp(names->items[0]->text, "out"))))
    return false;
  Val out = args[n - 1], given[4] = {callee}, elements[2];
  *result = BOTTOM;
  for (uint32_t k = 0; k < nin; k++) {
    if (ty_is_bottom(args[k]))
      return true;
    elements[k] = element_of(args[k]);
    given[1 + k] = args[k];
    if (args[k].type->id == TY_ARRAY &&
        (!args[k].type->ndim || args[k].type->ndim > out.type->ndim)) {
      (void)TY_FAIL(ty, ERR_STORE_VIEW, TY_PRETTY(ty, args[k]), TY_PRETTY(ty, out));
      return true;
    }
  }
  given[n] = out;
  Ty quiet = *ty;
  quiet.emit = false;
  Val one = ty_call_intrinsic(&quiet, (IntrinsicId)f->i, elements, nin, NULL);
  ty->stuck |= quiet.stuck;
  /* again, to raise it here; nothing is computed from the operands */
  if (ty_is_bottom(one) && ty->emit) {
    for (uint32_t k = 0; k < nin; k++)
      elements[k].ins = ty_ins(ty, ty_const_int(ty, 1));
    (void)ty_call_intrinsic(ty, (IntrinsicId)f->i, elements, nin, NULL);
  }
  if (!ty_is_bottom(one) && (!ty_is_number(one.type) || !ty_same_kind(one.type, out.type->elem)))
    (void)TY_FAIL(ty, ERR_STORE_TYPE, TY_PRETTY(ty, one), TY_PRETTY(ty, out));
  else if (out.type->readonly)
    (void)TY_FAIL(ty, ERR_READ_ONLY, TY_PRETTY(ty, out));
  else if (!ty_is_bottom(ty_call_library(ty, f->func, given, n + 1, NULL)))
    *result = out;
  return true;
}
