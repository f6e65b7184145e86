/* Arithmetic: Python's operators on numbers, tuples and compile-time objects to strict operations,
 * and the truth of any value.
 *
 * Of two numbers promote.def gives the types to convert the operands to, the strict operation and
 * its result. Constants are folded first, as Python computes them. What strict operations lack is
 * made of others here: powers with a constant exponent, comparisons with constants that no int64
 * reaches, a check of divisors with debug=True. Operators of complex numbers and of dates
 * are value/'s; those of arrays are errors, but for assignment to a view (assign.c). */
#include <math.h>
#include <string.h>

#include "typeinfer/resolve/resolve.h"
#include "typeinfer/rules/rules.h"
#include "typeinfer/value/dates.h"
#include "typeinfer/value/value.h"

static const char *operands_advice(Op op, Val a, Val b) {
  bool floats = ty_is_number(a.type) && ty_is_number(b.type);
  return a.type->id == TY_NONE || b.type->id == TY_NONE ? "test it first: if x is not None"
         : ty_is_position(a) || ty_is_position(b)
             ? "it has parts: cuda.threadIdx.x; cuda.grid(1) is the thread's place in the grid"
         : floats && op == OP_XOR ? "^ is for integers: x ** 2 is a power"
         : floats && (op == OP_AND || op == OP_OR)
             ? "& and | are for integers, int(x) & 1, and bind tighter than comparisons: write x > 0 and y < 3, or (x > 0) & (y < 3)"
             : NULL;
}

Val ty_bad_operands(Ty *ty, Op op, Val a, Val b, const char *advice) {
  return TY_FAIL_ADVISED(ty, advice ? advice : operands_advice(op, a, b), ERR_BAD_OPERANDS,
                         ty_op_text(op), TY_PRETTY(ty, a), TY_PRETTY(ty, b));
}

/* x[i] of an array with more axes than indices, which is what a kernel for one axis makes of one
 * with two; and an array of one element, which NumPy computes with. NULL: it is neither. */
static const char *row_advice(Ty *ty, Op op, Val array) {
  const Ins *view = array.ins;
  if (array.type->id == TY_ARRAY && !array.type->ndim && !ty_has_fields(array))
    return "an array without axes has one element, x[()]; as an argument pass x.item(), a number";
  if (view && view->op == OP_PARAM && (op == OP_LT || op == OP_LE || op == OP_GT || op == OP_GE))
    return "it is an argument of the launch: pass a number if one is meant, or take an element of the array, x[i]";
  if (op == OP_IN || op == OP_NOT_IN)
    return "look at each element: any(v == x for v in a)";
  if (!view || view->op != OP_VIEW || ty_has_fields(array) || !view->aux.view->n ||
      view->aux.view->kind[0] != VIEW_INDEX)
    return NULL;
  return arena_printf(
      &ty->cx->arena,
      "one index of an array with %u axes gives a part of it (a[i] is a row): write an index for "
      "each axis, a[i, j], or pass x.ravel() to the kernel",
      (unsigned)view->args[0]->type->ndim);
}

Val ty_whole_array(Ty *ty, Op op, Val array, Val other) {
  bool none = other.type && other.type->id == TY_NONE;
  const char *advice = !none         ? row_advice(ty, op, array)
                       : op == OP_NE ? "write 'is not None'"
                                     : "write 'is None'";
  return TY_FAIL_ADVISED(ty, advice, ty_has_fields(array) ? ERR_RECORD_OPERAND : ERR_WHOLE_ARRAY,
                         ty_op_text(op), TY_PRETTY(ty, array));
}

/* --- powers --- */

/* x ** n for a small constant n >= 0 by repeated squaring: exact for integers, which wrap alike in
 * any order. */
static Val int_power(Ty *ty, Val x, int64_t n) {
  Val r = BOTTOM;
  for (; n; n >>= 1) {
    if (n & 1)
      r = ty_is_bottom(r) ? x : ty_op2(ty, OP_MUL, x.type, r, x);
    if (n > 1)
      x = ty_op2(ty, OP_MUL, x.type, x, x);
  }
  return r;
}

/* pow(x, 0.5) is sqrt(x) but at -0.0 (0.0, not -0.0) and -inf (inf, not nan). */
static Val root_power(Ty *ty, Val x) {
  Val zero = ty_scalar_const(ty, x.type->id, 0), inf = ty_scalar_const(ty, x.type->id, INFINITY);
  Val minus = ty_scalar_const(ty, x.type->id, -INFINITY);
  Val sum = ty_op2(ty, OP_ADD, x.type, x, zero);
  Val root = ty_intrinsic(ty, INTR_MATH_SQRT, x.type, &sum, 1);
  return ty_select(ty, ty_op2(ty, OP_EQ, ty_id(ty, TY_PYBOOL), x, minus), inf, root);
}

/* A float power by a constant where a cheaper operation gives the same value; bottom if there is
 * none. */
static Val float_power(Ty *ty, Val x, double n) {
  if (n == 0)
    return ty_scalar_const(ty, x.type->id, 1);
  if (n == 1)
    return x;
  if (n == 2)
    return ty_op2(ty, OP_MUL, x.type, x, x);
  if (n == -1)
    return ty_op2(ty, OP_TRUEDIV, x.type, ty_scalar_const(ty, x.type->id, 1), x);
  return n == 0.5 ? root_power(ty, x) : BOTTOM;
}

static bool constant_exponent(Val b, double *out) {
  int64_t i;
  if (fz_get_int(b.konst, &i))
    *out = (double)i;
  else if (b.konst && ty_is_float(b.type)) /* and no uint64 above 2**63 */
    *out = b.konst->re;
  else
    return false;
  return true;
}

/* TyPolicy.power_inverts: x ** y of integers, of which r is right for y >= 0: what 1 / x ** -y has
 * of a whole number, the lowest integer for 1 / 0. */
static Val with_inverse(Ty *ty, Val x, Val y, Val r) {
  const Type *t = r.type, *pybool = ty_id(ty, TY_PYBOOL);
  Val zero = ty_scalar_const(ty, t->id, 0), one = ty_scalar_const(ty, t->id, 1);
  Val odd = ty_op2(ty, OP_EQ, pybool, ty_op2(ty, OP_AND, t, y, one), one);
  Val minus = ty_op2(ty, OP_EQ, pybool, x, ty_scalar_const(ty, t->id, -1));
  Val inverse = ty_select(ty, ty_op2(ty, OP_EQ, pybool, x, one), one, zero);
  inverse = ty_select(ty, minus, ty_select(ty, odd, x, one), inverse);
  inverse = ty_select(ty, ty_op2(ty, OP_EQ, pybool, x, zero), ty_scalar_const(ty, t->id, -0x1p63),
                      inverse);
  return ty_select(ty, ty_op2(ty, OP_LT, pybool, y, zero), inverse, r);
}

static Val power(Ty *ty, Val a, Val b, TyOp types) {
  enum { MAX_UNROLLED = 64 };
  double n = 0;
  const Type *t = ty_id(ty, types.result);
  bool constant = constant_exponent(b, &n);
  if (constant && ty_is_integral(t) && n < 0 && ty_is_weak(t)) /* Python: 2 ** -1 is 0.5 */
    return ty_binary(ty, OP_POW, ty_cast_id(ty, a, TY_PYFLOAT), ty_cast_id(ty, b, TY_PYFLOAT));
  Val x = ty_operand(ty, a, types.left), y = ty_operand(ty, b, types.right);
  if (ty_is_bottom(x) || ty_is_bottom(y))
    return BOTTOM;
  if (constant && ty_is_integral(t) && n >= 0 && n <= MAX_UNROLLED)
    return n == 0 ? ty_scalar_const(ty, t->id, 1) : int_power(ty, x, (int64_t)n);
  if (constant && ty_is_float(t)) {
    Val r = float_power(ty, x, n);
    if (!ty_is_bottom(r))
      return r;
  }
  if (ty_is_signed(t) && ty_policy(ty->cx)->power_inverts)
    return with_inverse(ty, x, y, ty_op2(ty, OP_POW, t, x, y));
  if (ty_is_signed(t) && ty->cx->debug)
    ty_check(ty, ty_op2(ty, OP_GE, ty_id(ty, TY_PYBOOL), y, ty_scalar_const(ty, t->id, 0)),
             "ValueError", "Integers to negative integer powers are not allowed.", NULL, 0);
  return ty_op2(ty, OP_POW, t, x, y);
}

/* A constant whole exponent of NumPy's that is one or two multiplications, for a base that is not
 * 0; else a function of the library. */
static Val complex_power(Ty *ty, const Type *t, Val a, Val b) {
  a = ty_to_complex(ty, a, t);
  b = ty_to_complex(ty, b, t);
  if (ty_is_bottom(a) || ty_is_bottom(b))
    return BOTTOM;
  const Frozen *k = b.konst;
  bool weak = ty_is_weak(t), known = k && !weak && k->im == 0 && (k->re == 1 || k->re == 2);
  if (!known)
    return ty_complex_function(ty, weak ? "python_power" : "power", (Val[]){a, b}, 2);
  Val nonzero = ty_complex_truth(ty, a), zero = ty_scalar_const(ty, ty_part_id(t->id), 0);
  Val r = k->re == 1 ? a : ty_complex_multiply(ty, a, a);
  Val re = ty_select(ty, nonzero, ty_part(ty, r, 0), zero);
  return ty_complex(ty, t, re, ty_select(ty, nonzero, ty_part(ty, r, 1), zero));
}

/* --- numbers --- */

/* Every 64-bit integer is on one side of a constant that is wider. */
static bool beyond_all(const Frozen *k, bool *above) {
  bool wide = k && k->kind == FZ_INT && k->wide;
  if (wide)
    *above = !k->text || *k->text != '-';
  return wide && k->text != fz_no_digits;
}

/* a op b, where it is known whether a < b, and they differ. */
static Val ordered_known(Ty *ty, Op op, bool less) {
  bool holds = less ? op == OP_LT || op == OP_LE : op == OP_GT || op == OP_GE;
  return ty_const_bool(ty, holds || op == OP_NE);
}

/* A Python int against a constant that none of them reaches. */
static bool compare_beyond(Ty *ty, Op op, Val a, Val b, Val *result) {
  bool above, weak = a.type->id == TY_PYINT || a.type->id == TY_PYBOOL;
  bool other = b.type->id == TY_PYINT || b.type->id == TY_PYBOOL;
  bool left = beyond_all(a.konst, &above);
  if (!weak || !other || (!left && !beyond_all(b.konst, &above)))
    return false;
  *result = ordered_known(ty, op, left != above);
  return true;
}

/* A mask of 64 bits keeps a weak integer as it is. Any other constant that int64 does not hold
 * stays one, and ty_ins refuses it: what it gives would wrap. */
static Val mask_bits(Ty *ty, Op op, Val v) {
  if (op == OP_AND && v.type->id == TY_PYINT && v.konst && v.konst->kind == FZ_INT &&
      v.konst->wide && !v.konst->text)
    v.konst = fz_int(ty->cx, v.konst->i);
  return v;
}

/* A constant beside a strong integer is compared in the strong type if it fits, which is
 * narrower. */
static bool compare_with_literal(Ty *ty, Op op, Val a, Val b, TyOp *types, Val *result) {
  bool left = ty_is_weak(a.type);
  const Frozen *k = left ? a.konst : b.konst;
  const Type *strong = left ? b.type : a.type;
  if (ty_is_weak(a.type) == ty_is_weak(b.type) || !k || k->kind != FZ_INT ||
      !ty_is_integral(strong) || strong->id == TY_BOOL)
    return false;
  if (ty_int_fits(k, strong->id)) {
    types->left = types->right = strong->id;
    return false;
  }
  bool above;
  if (!beyond_all(k, &above))
    return false;
  *result = ty_cast_id(ty, ordered_known(ty, op, left != above), types->result);
  return true;
}

/* With Numba's typing floats raise too, as its debug kernels do. */
static void check_divisor(Ty *ty, Op op, Val b) {
  bool whole = op == OP_FLOORDIV || op == OP_MOD;
  if (!ty->cx->debug)
    return;
  if (whole && ty_is_integral(b.type))
    ty_check(ty, ty_truth(ty, b), "ZeroDivisionError", "integer division or modulo by zero", NULL,
             0);
  else if ((whole || op == OP_TRUEDIV) && !ty_policy(ty->cx)->weak && ty_is_float(b.type))
    ty_check(ty, ty_truth(ty, b), "ZeroDivisionError", "division by zero", NULL, 0);
}

/* Is it x / y of Python ints, of which int64 holds those that are known? Any other int is divided
 * as the float that it becomes. */
static bool divides_ints(const Ty *ty, Op op, Val a, Val b) {
  bool ints = ty_is_weak(a.type) && ty_is_integral(a.type) && ty_is_weak(b.type) &&
              ty_is_integral(b.type);
  int64_t k;
  return op == OP_TRUEDIV && ints && ty_policy(ty->cx)->weak &&
         (!a.konst || fz_get_int(a.konst, &k)) && (!b.konst || fz_get_int(b.konst, &k));
}

static Val number_op(Ty *ty, Op op, Val a, Val b) {
  TyOp types = ty_op_types(ty->cx->typing, op, a.type->id, b.type->id);
  if (!types.ok)
    return ty_bad_operands(ty, op, a, b, NULL);
  if (ty_is_complex(ty_id(ty, types.left)))
    return op == OP_POW ? complex_power(ty, ty_id(ty, types.left), a, b)
                        : ty_complex_binary(ty, &types, a, b);
  const Frozen *k = ty_fold_binary(ty->cx, op, a.konst, b.konst);
  if (k)
    return ty_constant(ty, k, types.result);
  if (op == OP_POW)
    return power(ty, a, b, types);
  if (divides_ints(ty, op, a, b))
    return ty_op2(ty, op, ty_id(ty, TY_PYFLOAT), ty_cast_id(ty, a, TY_PYINT),
                  ty_cast_id(ty, b, TY_PYINT));
  bool is_compare = op >= OP_LT && op <= OP_GE;
  Val known;
  if (is_compare && compare_beyond(ty, op, a, b, &known))
    return known;
  if (is_compare && compare_with_literal(ty, op, a, b, &types, &known))
    return known;
  if (!is_compare || ty_is_float(ty_id(ty, types.left))) {
    a = ty_operand(ty, a, types.left);
    b = ty_operand(ty, b, types.right);
  } else {
    a = ty_cast_id(ty, a, types.left);
    b = ty_cast_id(ty, b, types.right);
  }
  if (ty_is_bottom(a) || ty_is_bottom(b))
    return BOTTOM;
  check_divisor(ty, op, b);
  return ty_op2(ty, types.op, ty_id(ty, types.result), mask_bits(ty, op, a), mask_bits(ty, op, b));
}

/* --- tuples and objects --- */

static Val tuple_concat(Ty *ty, Val a, Val b) {
  uint32_t n = a.type->n + b.type->n;
  if (n > TY_MAX_TUPLE)
    return TY_FAIL(ty, ERR_TOO_LARGE, "the tuple", "it has more than 4096 elements");
  Val *items = CX_ARRAY(ty->cx, Val, n + 1);
  for (uint32_t k = 0; k < n; k++)
    items[k] = k < a.type->n ? ty_item(ty, a, k) : ty_item(ty, b, k - a.type->n);
  return ty_make_sequence(ty, items, n, a.type->list);
}

Val ty_extend(Ty *ty, Val list, Val items) { return tuple_concat(ty, list, items); }

static Val tuple_repeat(Ty *ty, Val t, Val count) {
  int64_t times;
  if (!fz_get_int(count.konst, &times))
    return ty_not_constant(ty, "the number of repetitions of a tuple", NULL);
  times = times < 0 ? 0 : times;
  if (times > 1 && ty_holds_iterator(ty, t.type))
    return TY_FAIL(ty, ERR_ITERATOR_USED, "an iterator in the tuple");
  if (t.type->n && times > TY_MAX_TUPLE / t.type->n)
    return TY_FAIL(ty, ERR_TOO_LARGE, "the tuple", "it has more than 4096 elements");
  uint32_t n = t.type->n * (uint32_t)times;
  Val *items = CX_ARRAY(ty->cx, Val, n + 1);
  for (uint32_t k = 0; k < n; k++)
    items[k] = ty_item(ty, t, k % t.type->n);
  return ty_make_sequence(ty, items, n, t.type->list);
}

/* Tuples and strings compare by their first elements that differ. */
static Val ordered(Ty *ty, Op op, Val a, Val b) {
  const Frozen *k = a.type->id == TY_STR ? ty_fold_binary(ty->cx, op, a.konst, b.konst) : NULL;
  if (k)
    return ty_constant(ty, k, TY_PYBOOL);
  if (a.type->id == TY_STR)
    return ty_bad_operands(ty, op, a, b, NULL);
  uint32_t n = a.type->n < b.type->n ? a.type->n : b.type->n;
  bool less = op == OP_LT || op == OP_LE, or_equal = op == OP_LE || op == OP_GE;
  bool by_length = a.type->n == b.type->n ? or_equal : (a.type->n < b.type->n) == less;
  Val r = ty_const_bool(ty, by_length);
  while (n--) {
    Val x = ty_item(ty, a, n), y = ty_item(ty, b, n);
    Val first = ty_truth(ty, ty_binary(ty, op, x, y));
    Val same = ty_truth(ty, ty_equal(ty, OP_EQ, x, y));
    if (ty_is_bottom(first) || ty_is_bottom(same))
      return BOTTOM;
    Val differ = ty_both(ty, OP_AND, ty_not(ty, same), first);
    r = ty_both(ty, OP_OR, differ, ty_both(ty, OP_AND, same, r));
  }
  return r;
}

Val ty_binary(Ty *ty, Op op, Val a, Val b) {
  if (ty_is_bottom(a) || ty_is_bottom(b))
    return BOTTOM;
  if (a.type->id == TY_ARRAY || b.type->id == TY_ARRAY)
    return ty_whole_array(ty, op, a.type->id == TY_ARRAY ? a : b, a.type->id == TY_ARRAY ? b : a);
  if (op == OP_MATMUL)
    return ty_bad_operands(ty, op, a, b, NULL);
  if (ty_is_number(a.type) && ty_is_number(b.type))
    return number_op(ty, op, a, b);
  if (ty_is_date_op(a, b))
    return ty_date_binary(ty, op, a, b);
  if (op == OP_EQ || op == OP_NE)
    return ty_equal(ty, op, a, b);
  if (op >= OP_LT && op <= OP_GE && a.type->id == b.type->id && a.type->list == b.type->list &&
      (a.type->id == TY_TUPLE || a.type->id == TY_STR))
    return ordered(ty, op, a, b);
  /* not what tuples do: a sum would be taken for one of the numbers */
  if (ty_is_vector(a.type) || ty_is_vector(b.type))
    return ty_bad_operands(ty, op, a, b, NULL);
  if (a.type->id == TY_TUPLE && b.type->id == TY_TUPLE && op == OP_ADD &&
      a.type->list == b.type->list)
    return tuple_concat(ty, a, b);
  if (a.type->id == TY_TUPLE && ty_is_integral(b.type) && op == OP_MUL)
    return tuple_repeat(ty, a, b);
  if (b.type->id == TY_TUPLE && ty_is_integral(a.type) && op == OP_MUL)
    return tuple_repeat(ty, b, a);
  if ((a.type->id == TY_STR && (op == OP_ADD || op == OP_MOD || op == OP_MUL)) ||
      (b.type->id == TY_STR && op == OP_ADD))
    return TY_FAIL(ty, ERR_STRING_BUILD);
  return ty_bad_operands(ty, op, a, b, NULL);
}

Val ty_unary(Ty *ty, Op op, Val a) {
  if (ty_is_bottom(a))
    return BOTTOM;
  TyOp types = {0};
  if (a.type->id == TY_ARRAY)
    return ty_whole_array(ty, op, a, BOTTOM);
  if (ty_is_date(a.type))
    return ty_date_unary(ty, op, a);
  if (ty_is_number(a.type))
    types = ty_unary_types(ty->cx->typing, op, a.type->id);
  if (!types.ok)
    return TY_FAIL(ty, ERR_BAD_OPERAND, ty_op_text(op), TY_PRETTY(ty, a));
  const Type *t = ty_id(ty, types.result);
  if (ty_is_complex(t))
    return op == OP_NEG ? ty_complex_negative(ty, a) : a;
  const Frozen *k = ty_fold_unary(ty->cx, op, a.konst);
  if (k)
    return ty_constant(ty, k, t->id);
  if (t->id == TY_BOOL && op == OP_INVERT)
    return ty_op1(ty, OP_NOT, t, a);
  const Type *done_in = ty_id(ty, types.left);
  a = ty_cast(ty, a, done_in);
  return ty_cast(ty, op == OP_POS ? a : ty_op1(ty, op, done_in, a), t);
}

/* --- truth --- */

Val ty_truth(Ty *ty, Val v) {
  bool known;
  if (ty_is_bottom(v))
    return BOTTOM;
  if (fz_truth(v.konst, &known))
    return ty_const_bool(ty, known);
  switch (v.type->id) {
  case TY_PYBOOL: return v;
  case TY_NONE: return ty_const_bool(ty, false);
  case TY_TUPLE: return ty_const_bool(ty, v.type->n != 0);
  case TY_ENUM:
  case TY_FUNC:
  case TY_MODULE:
  case TY_DTYPE: return ty_const_bool(ty, true);
  case TY_RANGE: return ty_iter_more(ty, v, ty_item(ty, v, 0));
  case TY_OPTIONAL: return ty_optional_truth(ty, v);
  default: break;
  }
  if (ty_has_fields(v))
    return TY_FAIL(ty, ERR_RECORD_OPERAND, "a truth value", TY_PRETTY(ty, v));
  if (v.type->id == TY_ARRAY)
    return TY_FAIL_ADVISED(ty, row_advice(ty, OP_EQ, v), ERR_WHOLE_ARRAY, "a truth value",
                           TY_PRETTY(ty, v));
  if (ty_is_date(v.type))
    return ty_date_truth(ty, v);
  if (!ty_is_number(v.type))
    return TY_FAIL(ty, ERR_BAD_OPERAND, "a truth value", TY_PRETTY(ty, v));
  if (ty_is_complex(v.type))
    return ty_complex_truth(ty, v);
  return ty_op1(ty, OP_TRUTH, ty_id(ty, TY_PYBOOL), v);
}

Val ty_not(Ty *ty, Val a) { return ty_negation(ty, ty_truth(ty, a)); }
