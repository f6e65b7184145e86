/* Rules of numpy.*: ufuncs on numbers, with the types of NumPy's loops. Calls with complex numbers
 * go on to complex_functions.c.
 *
 * A Python bool is NumPy's bool here. Python ints and floats give way to NumPy's numbers; alone
 * they are int64 and float64. No result is weak. Numba's ufuncs are NumPy's loops too, but without
 * those of 16 bits, and beside a float or complex number an integer has no say. */
#include <math.h>

#include "typeinfer/resolve/resolve.h"
#include "typeinfer/rules/numpy.h"
#include "typeinfer/rules/rules.h"
#include "typeinfer/value/value.h"

static const Type *boolean(Ty *ty) { return ty_id(ty, TY_BOOL); }
static Val number(Ty *ty, Val like, double v) { return ty_scalar_const(ty, like.type->id, v); }
static Val compare(Ty *ty, Op op, Val a, Val b) {
  return ty_op2(ty, op, ty_id(ty, TY_PYBOOL), a, b);
}
static Val to_bool(Ty *ty, Val v) { return ty_cast(ty, v, boolean(ty)); }

/* Are the arguments from number `from` on numbers, or None? */
static bool numbers_from(Ty *ty, const TyCall *c, uint32_t from, bool or_none) {
  for (uint32_t k = from; k < c->n; k++)
    if (!ty_is_number(c->args[k].type) && !(or_none && c->args[k].type->id == TY_NONE)) {
      (void)ty_argument_type(ty, c, k, "a number");
      return false;
    }
  return true;
}

static bool numbers(Ty *ty, const TyCall *c) { return numbers_from(ty, c, 0, false); }

static void drop_integers(Ty *ty, Val *x, uint32_t n) {
  TypeId floating = TY_VOID;
  for (uint32_t k = 0; k < n; k++)
    if (!ty_is_integral(x[k].type))
      floating = floating == TY_VOID ? x[k].type->id
                                     : ty_promote(TYPING_NUMPY, floating, x[k].type->id);
  for (uint32_t k = 0; floating != TY_VOID && k < n; k++)
    if (ty_is_integral(x[k].type))
      x[k] = ty_cast_id(ty, x[k], floating);
}

/* A uint64 and another integer come in the type that NumPy's loop has for them: Numba's operators
 * have int64 for a signed one and a bool. */
static void to_loop(Ty *ty, Val *x) {
  TypeId t = ty_promote(TYPING_NUMPY, x[0].type->id, x[1].type->id);
  for (uint32_t k = 0; k < 2; k++)
    if (ty_policy(ty->cx)->wide_ints && (t == TY_F64 || t == TY_U64))
      x[k] = ty_cast_id(ty, x[k], t);
}

/* The result of an operator, which Numba has with 64 bits, in the type of NumPy's loop: integers
 * lose no bits of it. */
static Val of_loop(Ty *ty, Op op, const Val *x, uint32_t n, Val r) {
  if (!ty_policy(ty->cx)->wide_ints || ty_is_bottom(r))
    return r;
  TypeId a = x[0].type->id, b = n > 1 ? x[1].type->id : a;
  TyOp loop = n > 1 ? ty_op_types(TYPING_NUMPY, op, a, b) : ty_unary_types(TYPING_NUMPY, op, a);
  TypeId t = loop.ok ? loop.result : TY_I8; /* of bools, for which NumPy has no loop */
  bool narrow = op == OP_TRUEDIV && ty_is_integral(x[0].type) && ty_bits(x[0].type) <= 16 &&
                ty_bits(x[1].type) <= 16;
  /* which has more than twice the bits of the operands */
  return ty_cast_id(ty, r, narrow ? TY_F32 : t);
}

/* The arguments as the operators take them: weak numbers stay weak beside a strong one. */
bool np_operands(Ty *ty, const TyCall *c, Val *out) {
  if (!numbers(ty, c))
    return false;
  bool strong = false;
  for (uint32_t k = 0; k < c->n; k++) {
    out[k] = c->args[k].type->id == TY_PYBOOL ? to_bool(ty, c->args[k]) : c->args[k];
    strong |= !ty_is_weak(c->args[k].type);
  }
  for (uint32_t k = 0; k < c->n && !strong; k++)
    out[k] = ty_cast_id(ty, out[k], ty_strengthen(out[k].type->id));
  if (ty_policy(ty->cx)->ints_yield)
    drop_integers(ty, out, c->n);
  return true;
}

/* The arguments in their common type, with which a constant must be compatible. */
static const Type *common(Ty *ty, const TyCall *c, Val *out) {
  if (!np_operands(ty, c, out))
    return NULL;
  TypeId t = out[0].type->id;
  for (uint32_t k = 1; k < c->n; k++)
    t = ty_promote(TYPING_NUMPY, t, out[k].type->id);
  t = ty_strengthen(t);
  for (uint32_t k = 0; k < c->n; k++) {
    out[k] = ty_operand(ty, out[k], t);
    if (ty_is_bottom(out[k]))
      return NULL;
  }
  return ty_id(ty, t);
}

/* --- functions of floats --- */

/* The narrowest float type that holds a type's values, as NumPy has it; bool where any of 16 bits
 * does. */
static TypeId float_loop(TypeId t) {
  switch (t) {
  case TY_PYBOOL:
  case TY_BOOL:
  case TY_I8:
  case TY_U8: return TY_BOOL;
  case TY_E4M3:
  case TY_E5M2:
  case TY_E8M0:
  case TY_F16:
  case TY_BF16: return t;
  case TY_I16:
  case TY_U16:
  case TY_F32: return TY_F32;
  default: return TY_F64;
  }
}

/* A weak float has no say beside a strong one, nor a weak int beside any strong number but a bool;
 * else they are float64. */
static TypeId float_type(const Ty *ty, const TyCall *c) {
  TypeId widest = TY_BOOL, weak_kind = TY_PYBOOL;
  bool strong_int = false, strong_float = false, any_float = false;
  for (uint32_t k = 0; k < c->n; k++)
    any_float |= ty_is_float(c->args[k].type);
  for (uint32_t k = 0; k < c->n; k++) {
    const Type *t = c->args[k].type;
    bool number = ty_kind(t) != KIND_BOOL;
    if (ty_policy(ty->cx)->ints_yield && any_float && !ty_is_float(t))
      continue;
    if (ty_is_weak(t) && number) {
      weak_kind = t->id > weak_kind ? t->id : weak_kind;
      continue;
    }
    strong_float |= ty_is_float(t);
    strong_int |= number && !ty_is_float(t);
    widest = ty_promote(TYPING_NUMPY, widest, float_loop(t->id));
  }
  bool speaks = weak_kind == TY_PYFLOAT ? !strong_float
                                        : weak_kind == TY_PYINT && !strong_float && !strong_int;
  return speaks ? TY_F64 : widest != TY_BOOL ? widest : ty_policy(ty->cx)->least_loop;
}

static const Type *not_real(Ty *ty, const TyCall *c) {
  (void)ty_argument_type(ty, c, !ty_is_complex(c->args[0].type), "a real number");
  return NULL;
}

/* common() of a function that complex numbers do not have. */
static const Type *common_real(Ty *ty, const TyCall *c, Val *out) {
  return ty_is_complex_call(c) ? not_real(ty, c) : common(ty, c, out);
}

const Type *np_float_arguments(Ty *ty, const TyCall *c, Val *out) {
  if (!numbers(ty, c))
    return NULL;
  if (ty_is_complex_call(c))
    return not_real(ty, c);
  TypeId t = float_type(ty, c);
  for (uint32_t k = 0; k < c->n; k++)
    out[k] = ty_cast_id(ty, c->args[k], t);
  return ty_id(ty, t);
}

/* The one operand of a call with a complex number. */
static Val complex_operand(Ty *ty, const TyCall *c) {
  Val z;
  np_complex_operands(ty, c, &z);
  return z;
}

static Val complex_function(Ty *ty, const TyCall *c, const char *name) {
  Val z = complex_operand(ty, c);
  return ty_complex_function(ty, name, &z, 1);
}

Val ty_rule_np_float1(Ty *ty, const TyCall *c, IntrinsicId f) {
  Val x;
  const Type *t = np_float_arguments(ty, c, &x);
  return t ? ty_intrinsic(ty, f, t, &x, 1) : BOTTOM;
}

Val ty_rule_np_function(Ty *ty, const TyCall *c, IntrinsicId f, const char *of_complex) {
  return ty_is_complex_call(c) ? complex_function(ty, c, of_complex) : ty_rule_np_float1(ty, c, f);
}

Val ty_rule_np_rint(Ty *ty, const TyCall *c) {
  return ty_is_complex_call(c) ? np_complex_rint(ty, complex_operand(ty, c))
                               : ty_rule_np_float1(ty, c, INTR_PY_ROUND);
}

/* In float32 at least, and rounded to x's type. */
Val ty_rule_np_scale(Ty *ty, const TyCall *c, double factor) {
  Val x;
  const Type *t = np_float_arguments(ty, c, &x);
  if (!t)
    return BOTTOM;
  Val wide = ty_bits(t) < 32 ? ty_cast_id(ty, x, TY_F32) : x;
  return ty_cast(ty, ty_op2(ty, OP_MUL, wide.type, wide, number(ty, wide, factor)), t);
}

Val ty_rule_np_float2(Ty *ty, const TyCall *c, IntrinsicId f) {
  Val x[2];
  const Type *t = np_float_arguments(ty, c, x);
  return t ? ty_intrinsic(ty, f, t, x, 2) : BOTTOM;
}

Val ty_rule_np_whole(Ty *ty, const TyCall *c, IntrinsicId f) {
  Val x;
  const Type *t = common_real(ty, c, &x);
  if (!t)
    return BOTTOM;
  return ty_is_integral(t) ? x : ty_intrinsic(ty, f, t, &x, 1);
}

/* --- operators --- */

Val ty_rule_np_op1(Ty *ty, const TyCall *c, Op op) {
  Val x;
  if (ty_is_date_call(c))
    return ty_unary(ty, op, c->args[0]);
  return np_operands(ty, c, &x) ? of_loop(ty, op, &x, 1, ty_unary(ty, op, x)) : BOTTOM;
}

Val ty_rule_np_op2(Ty *ty, const TyCall *c, Op op) {
  Val x[2];
  if (ty_is_date_call(c))
    return ty_binary(ty, op, c->args[0], c->args[1]);
  if (!np_operands(ty, c, x))
    return BOTTOM;
  to_loop(ty, x);
  return of_loop(ty, op, x, 2, ty_binary(ty, op, x[0], x[1]));
}

/* To NumPy complex numbers have an order. */
Val ty_rule_np_order(Ty *ty, const TyCall *c, Op op) {
  Val z[2];
  if (!ty_is_complex_call(c))
    return ty_rule_np_op2(ty, c, op);
  np_complex_operands(ty, c, z);
  return to_bool(ty, ty_complex_ordered(ty, op, z[0], z[1]));
}

Val ty_rule_np_logic(Ty *ty, const TyCall *c, Op op) {
  if (!numbers(ty, c))
    return BOTTOM;
  Val a = to_bool(ty, ty_truth(ty, c->args[0])), b = to_bool(ty, ty_truth(ty, c->args[1]));
  return ty_op2(ty, op, boolean(ty), a, b);
}

Val ty_rule_np_not(Ty *ty, const TyCall *c) {
  return numbers(ty, c) ? to_bool(ty, ty_not(ty, c->args[0])) : BOTTOM;
}

/* --- the rest, by parts --- */

static Val is_nan(Ty *ty, Val x) {
  return ty_intrinsic(ty, INTR_MATH_ISNAN, ty_id(ty, TY_PYBOOL), &x, 1);
}

/* x1 where it is the smaller (larger) one, or is a nan (skips: x2 is one); else x2. */
static Val extreme(Ty *ty, Val x1, Val x2, bool low, bool skips) {
  Val first = compare(ty, low ? OP_LE : OP_GE, x1, x2);
  if (ty_is_float(x1.type))
    first = ty_op2(ty, OP_OR, ty_id(ty, TY_PYBOOL), first, is_nan(ty, skips ? x2 : x1));
  return ty_select(ty, first, x1, x2);
}

Val ty_rule_np_minmax(Ty *ty, const TyCall *c, bool low, bool skips) {
  Val x[2];
  if (ty_is_date_call(c))
    return ty_date_extreme(ty, c->name, low, skips, c->args[0], c->args[1]);
  if (ty_is_complex_call(c))
    return np_complex_extreme(ty, c, low, skips);
  return common(ty, c, x) ? extreme(ty, x[0], x[1], low, skips) : BOTTOM;
}

/* The common type of x and y, as NumPy's result_type has it. */
Val ty_rule_np_where(Ty *ty, const TyCall *c) {
  if (!numbers_from(ty, c, 1, false))
    return BOTTOM;
  TyCall values = {.id = c->id,
                   .name = c->name,
                   .n = 2,
                   .args = {c->args[1], c->args[2]},
                   .given = {true, true}};
  Val x[2], cond = ty_truth(ty, c->args[0]);
  if (ty_is_bottom(cond) || !common(ty, &values, x))
    return BOTTOM;
  return ty_select(ty, cond, x[0], x[1]);
}

/* NumPy's loop: the minimum of a_max and the maximum of a_min and a, all in one type; a nan
 * stays. */
Val ty_rule_np_clip(Ty *ty, const TyCall *c) {
  if (!numbers_from(ty, c, 0, true))
    return BOTTOM;
  TyCall values = {.id = c->id, .name = c->name};
  uint32_t at[3], n = 0;
  for (uint32_t k = 0; k < 3; k++)
    if (!k || c->args[k].type->id != TY_NONE) {
      at[n] = k;
      values.args[n] = c->args[k];
      values.given[n++] = true;
    }
  values.n = n;
  Val x[3];
  if (ty_is_complex_call(&values))
    return ty_argument_type(ty, c, 0, "a real number");
  if (!common(ty, &values, x))
    return BOTTOM;
  Val r = x[0];
  for (uint32_t k = 1; k < n; k++)
    r = extreme(ty, r, x[k], at[k] == 2, false);
  return r;
}

Val ty_rule_np_round(Ty *ty, const TyCall *c) {
  Val x = c->args[0];
  int64_t n = 0;
  if (!ty_is_number(x.type) || ty_is_complex(x.type))
    return ty_argument_type(ty, c, 0, "a real number");
  if (c->given[1] && !fz_get_int(c->args[1].konst, &n))
    return ty_not_constant(ty, "decimals of np.round()", NULL);
  x = ty_cast_id(ty, x, ty_kind(x.type) == KIND_BOOL ? TY_F16 : ty_strengthen(x.type->id));
  return n || ty_is_integral(x.type) ? ty_round_digits(ty, x, n)
                                     : ty_intrinsic(ty, INTR_PY_ROUND, x.type, &x, 1);
}

/* Of integers of one type: a % b is moved from b's sign to a's. */
static Val int_fmod(Ty *ty, Val a, Val b) {
  Val r = of_loop(ty, OP_MOD, (Val[]){a, b}, 2, ty_binary(ty, OP_MOD, a, b));
  if (ty_is_bottom(r) || !ty_is_signed(r.type))
    return r;
  const Type *pybool = ty_id(ty, TY_PYBOOL);
  Val zero = number(ty, r, 0);
  Val differ = compare(ty, OP_NE, compare(ty, OP_LT, a, zero), compare(ty, OP_LT, b, zero));
  Val move = ty_op2(ty, OP_AND, pybool, differ, compare(ty, OP_NE, r, zero));
  return ty_select(ty, move, ty_op2(ty, OP_SUB, r.type, r, b), r);
}

Val ty_rule_np_fmod(Ty *ty, const TyCall *c) {
  Val x[2];
  const Type *t = common_real(ty, c, x);
  if (!t)
    return BOTTOM;
  if (ty_is_float(t))
    return ty_intrinsic(ty, INTR_MATH_FMOD, t, x, 2);
  for (int k = 0; k < 2; k++)
    x[k] = t->id == TY_BOOL ? ty_cast_id(ty, x[k], TY_I8) : x[k];
  return int_fmod(ty, x[0], x[1]);
}

Val ty_rule_np_signbit(Ty *ty, const TyCall *c) {
  Val x;
  if (!common_real(ty, c, &x))
    return BOTTOM;
  if (ty_is_float(x.type)) {
    Val parts[] = {number(ty, x, 1), x};
    x = ty_intrinsic(ty, INTR_MATH_COPYSIGN, x.type, parts, 2);
  } else if (!ty_is_signed(x.type)) {
    return ty_cast(ty, ty_const_bool(ty, false), boolean(ty));
  }
  return ty_op2(ty, OP_LT, boolean(ty), x, number(ty, x, 0));
}

/* NaT is a nan, and no date is infinite. */
static Val date_class(Ty *ty, Val date, IntrinsicId f) {
  if (f == INTR_MATH_ISINF)
    return ty_const_bool(ty, false);
  Val nat = ty_is_nat(ty, date);
  return f == INTR_MATH_ISFINITE && !ty_is_bottom(nat) ? ty_not(ty, nat) : nat;
}

Val ty_rule_np_class(Ty *ty, const TyCall *c, IntrinsicId f) {
  Val x;
  if (ty_is_date_call(c))
    return ty_cast_id(ty, date_class(ty, c->args[0], f), TY_BOOL);
  if (ty_is_complex_call(c))
    return to_bool(ty, np_complex_pred(ty, f, complex_operand(ty, c)));
  const Type *t = common(ty, c, &x);
  if (!t)
    return BOTTOM;
  if (!ty_is_float(t))
    return to_bool(ty, ty_const_bool(ty, f == INTR_MATH_ISFINITE));
  return ty_intrinsic(ty, f, boolean(ty), &x, 1);
}

Val ty_rule_np_absolute(Ty *ty, const TyCall *c) {
  Val x;
  if (ty_is_date_call(c))
    return ty_date_abs(ty, c->args[0]);
  if (ty_is_complex_call(c))
    return ty_complex_abs(ty, complex_operand(ty, c));
  const Type *t = common(ty, c, &x);
  if (!t || t->id == TY_BOOL || ty_kind(t) == KIND_UINT)
    return t ? x : BOTTOM;
  return ty_intrinsic(ty, INTR_PY_ABS, t, &x, 1);
}

Val ty_rule_np_sign(Ty *ty, const TyCall *c) {
  Val x;
  if (c->args[0].type->id == TY_TIMEDELTA)
    return ty_date_sign(ty, c->args[0]);
  if (ty_is_complex_call(c))
    return complex_function(ty, c, "sign");
  if (!common(ty, c, &x))
    return BOTTOM;
  if (x.type->id == TY_BOOL && !ty_policy(ty->cx)->bool_is_int)
    return TY_FAIL(ty, ERR_BAD_OPERAND, c->name, TY_PRETTY(ty, x));
  if (x.type->id == TY_BOOL)
    x = ty_cast_id(ty, x, TY_I8);
  Val zero = number(ty, x, 0), rest = zero;
  if (ty_is_float(x.type))
    rest = ty_select(ty, is_nan(ty, x), x, zero);
  if (ty_kind(x.type) != KIND_UINT)
    rest = ty_select(ty, compare(ty, OP_LT, x, zero), number(ty, x, -1), rest);
  return ty_select(ty, compare(ty, OP_GT, x, zero), number(ty, x, 1), rest);
}

/* The operand of arithmetic, which bools do as int8. */
static Val arithmetic_operand(Ty *ty, const TyCall *c) {
  Val x;
  const Type *t = common(ty, c, &x);
  return !t ? BOTTOM : t->id == TY_BOOL ? ty_cast_id(ty, x, TY_I8) : x;
}

Val ty_rule_np_square(Ty *ty, const TyCall *c) {
  if (ty_is_complex_call(c)) {
    Val z = complex_operand(ty, c);
    return ty_complex_multiply(ty, z, z);
  }
  Val x = arithmetic_operand(ty, c);
  return ty_is_bottom(x) ? x : ty_op2(ty, OP_MUL, x.type, x, x);
}

Val ty_rule_np_reciprocal(Ty *ty, const TyCall *c) {
  if (ty_is_complex_call(c))
    return complex_function(ty, c, "reciprocal");
  Val x = arithmetic_operand(ty, c);
  if (ty_is_bottom(x))
    return x;
  Val one = number(ty, x, 1);
  if (ty_is_float(x.type))
    return ty_op2(ty, OP_TRUEDIV, x.type, one, x);
  Val rest = number(ty, x, 0);
  if (ty_is_signed(x.type)) {
    Val minus = number(ty, x, -1);
    rest = ty_select(ty, compare(ty, OP_EQ, x, minus), minus, rest);
  }
  return ty_select(ty, compare(ty, OP_EQ, x, one), one, rest);
}

/* --- functions that NumPy has for complex numbers' sake --- */

Val ty_rule_np_conjugate(Ty *ty, const TyCall *c) {
  return ty_is_complex_call(c) ? ty_complex_conjugate(ty, complex_operand(ty, c))
                               : arithmetic_operand(ty, c);
}

Val ty_rule_np_part(Ty *ty, const TyCall *c, const char *name) {
  return ty_getattr(ty, c->args[0], name);
}

Val ty_rule_np_angle(Ty *ty, const TyCall *c) {
  TyCall angle = *c;
  angle.n = 1;
  if (!numbers(ty, &angle))
    return BOTTOM;
  Val r;
  bool degrees = false;
  if (c->given[1] && !fz_truth(c->args[1].konst, &degrees))
    return ty_not_constant(ty, "deg of numpy.angle", NULL);
  if (ty_is_complex_call(&angle)) {
    r = np_complex_phase(ty, complex_operand(ty, &angle));
  } else { /* arctan2(0, z) */
    angle = (TyCall){.id = c->id, .name = c->name, .n = 2, .given = {true, true}};
    angle.args[0] = ty_const_int(ty, 0);
    angle.args[1] = c->args[0];
    r = ty_rule_np_float2(ty, &angle, INTR_MATH_ATAN2);
  }
  if (ty_is_bottom(r) || !degrees)
    return r;
  return ty_op2(ty, OP_MUL, r.type, r, number(ty, r, 180 / M_PI));
}
