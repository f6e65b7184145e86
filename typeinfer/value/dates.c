/* Dates: NumPy's datetime64 and timedelta64 as arithmetic of 64-bit integers.
 *
 * A value has its own type here; what is emitted is an int64 (ty_storage), so nothing behind typing
 * knows dates. Each rule is NumPy's for scalars: operands go to the unit that both are multiples
 * of, NaT (the lowest integer) goes through arithmetic and equals nothing, and integers that
 * overflow wrap. */
#include <math.h>
#include <string.h>

#include "typeinfer/value/dates.h"
#include "typeinfer/value/value.h"

/* --- values and their integers --- */

static const Type *int64(Ty *ty) { return ty_id(ty, TY_I64); }
static const Type *pybool(Ty *ty) { return ty_id(ty, TY_PYBOOL); }

static Val whole(Ty *ty, int64_t v) { return ty_constant(ty, fz_int(ty->cx, v), TY_I64); }
static Val nat(Ty *ty) { return whole(ty, INT64_MIN); }

Val ty_date_raw(Ty *ty, Val v) {
  if (ty_is_bottom(v))
    return v;
  return v.konst ? whole(ty, v.konst->i) : (Val){.type = int64(ty), .ins = v.ins, .src = v.src};
}

Val ty_date_of(Ty *ty, const Type *t, Val raw) {
  int64_t i;
  if (ty_is_bottom(raw))
    return raw;
  if (!fz_get_int(raw.konst, &i))
    return (Val){.type = t, .ins = raw.ins, .src = raw.src};
  Frozen *f = CX_NEW(ty->cx, Frozen);
  f->kind = FZ_DATE;
  f->type = t->id;
  f->text = ty_name(ty->cx, t);
  f->i = i;
  return (Val){.type = t, .konst = f, .src = raw.src};
}

/* --- operations on integers; constants are folded. What NaT makes of them is not looked at --- */

static Val op2(Ty *ty, Op op, Val a, Val b) {
  if (ty_is_bottom(a) || ty_is_bottom(b))
    return BOTTOM;
  bool compare = op >= OP_LT && op <= OP_GE;
  const Frozen *k = ty_fold_binary(ty->cx, op, a.konst, b.konst);
  if (k)
    return ty_constant(ty, k, compare ? TY_PYBOOL : TY_I64);
  Val v = ty_op2(ty, op, compare ? pybool(ty) : int64(ty), a, b);
  ty_flag(v, INS_WRAPS);
  return v;
}

static Val add(Ty *ty, Val a, Val b) { return op2(ty, OP_ADD, a, b); }
static Val sub(Ty *ty, Val a, Val b) { return op2(ty, OP_SUB, a, b); }
static Val add_int(Ty *ty, Val a, int64_t b) { return b ? add(ty, a, whole(ty, b)) : a; }
static Val mul_int(Ty *ty, Val a, int64_t b) {
  return b == 1 ? a : op2(ty, OP_MUL, a, whole(ty, b));
}
static Val floor_int(Ty *ty, Val a, int64_t b) {
  return b == 1 ? a : op2(ty, OP_FLOORDIV, a, whole(ty, b));
}
static Val nonnegative(Val v) {
  ty_flag(v, INS_NONNEGATIVE);
  return v;
}
static Val mod_int(Ty *ty, Val a, int64_t b) { return op2(ty, OP_MOD, a, whole(ty, b)); }

static Val is_nat(Ty *ty, Val raw) { return op2(ty, OP_EQ, raw, nat(ty)); }
static Val either(Ty *ty, Val a, Val b) { return ty_both(ty, OP_OR, a, b); }
static Val both(Ty *ty, Val a, Val b) { return ty_both(ty, OP_AND, a, b); }

/* select() whose arms may be constants of one type. */
static Val choose(Ty *ty, Val cond, Val yes, Val no) {
  return ty_is_bottom(cond) ? BOTTOM : ty_select(ty, cond, yes, no);
}

static Val one_is_nat(Ty *ty, Val a, Val b) {
  Val first = is_nat(ty, a);
  return either(ty, first, is_nat(ty, b));
}

/* NaT where an operand is, else r. */
static Val unless_nat(Ty *ty, Val r, Val a, Val b) {
  return choose(ty, one_is_nat(ty, a, b), nat(ty), r);
}

Val ty_is_nat(Ty *ty, Val v) { return is_nat(ty, ty_date_raw(ty, v)); }

/* --- units --- */

/* Months since 1970-01 to days since 1970-01-01 and back. The algorithms are days_from_civil and
 * civil_from_days of Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms": years start in
 * March, so that a leap day is their last, and the lengths of the months since then follow (153 *
 * month + 2) / 5. Division rounds down, so years before 0 need no case of their own. */
enum { MONTHS_TO_1970 = 1970 * 12, DAYS_TO_1970 = 719468, DAYS_OF_400_YEARS = 146097 };

static Val days_from_months(Ty *ty, Val months) {
  Val from_march = add_int(ty, months, MONTHS_TO_1970 - 2);
  Val y = floor_int(ty, from_march, 12), m = mod_int(ty, from_march, 12);
  Val days = mul_int(ty, y, 365);
  days = add(ty, days, floor_int(ty, y, 4));
  days = sub(ty, days, floor_int(ty, y, 100));
  days = add(ty, days, floor_int(ty, y, 400));
  days = add(ty, days, floor_int(ty, add_int(ty, mul_int(ty, m, 153), 2), 5));
  return add_int(ty, days, -DAYS_TO_1970);
}

static Val months_from_days(Ty *ty, Val days) {
  Val z = add_int(ty, days, DAYS_TO_1970);
  Val era = floor_int(ty, z, DAYS_OF_400_YEARS), day = mod_int(ty, z, DAYS_OF_400_YEARS);
  Val n = sub(ty, day, floor_int(ty, day, 1460));
  n = add(ty, n, floor_int(ty, day, 36524));
  n = sub(ty, n, floor_int(ty, day, 146096));
  Val year = nonnegative(floor_int(ty, nonnegative(n), 365));
  Val first = mul_int(ty, year, 365);
  first = add(ty, first, floor_int(ty, year, 4));
  first = sub(ty, first, floor_int(ty, year, 100));
  Val rest = nonnegative(sub(ty, day, first));
  Val month = floor_int(ty, nonnegative(add_int(ty, mul_int(ty, rest, 5), 2)), 153);
  Val years = add(ty, mul_int(ty, era, 400), year);
  return add_int(ty, add(ty, mul_int(ty, years, 12), month), 2 - MONTHS_TO_1970);
}

static bool scaled(Ty *ty, Val *raw, const Type *from, const Type *to) {
  int64_t num, den;
  if (!ty_date_ratio(from, to, &num, &den))
    return false;
  *raw = floor_int(ty, mul_int(ty, *raw, num), den);
  return true;
}

/* Over the border between months and days, which a date can cross. */
static bool crossed(Ty *ty, Val *raw, const Type *from, const Type *to) {
  const Type *months = ty_date(ty->cx, TY_DATETIME, DATE_M, 1);
  const Type *days = ty_date(ty->cx, TY_DATETIME, DATE_D, 1);
  bool down = from->unit <= DATE_M;
  if (from->id != TY_DATETIME || down == (to->unit <= DATE_M) || to->unit == DATE_GENERIC ||
      !scaled(ty, raw, from, down ? months : days))
    return false;
  *raw = down ? days_from_months(ty, *raw) : months_from_days(ty, *raw);
  return scaled(ty, raw, down ? days : months, to);
}

static Val to_unit(Ty *ty, Val v, const Type *to) {
  if (ty_is_bottom(v) || v.type == to)
    return v;
  Val raw = ty_date_raw(ty, v), r = raw;
  if (v.type->id != to->id || !(scaled(ty, &r, v.type, to) || crossed(ty, &r, v.type, to)))
    return TY_FAIL(ty, ERR_DATE_UNIT, TY_PRETTY(ty, v), ty_pretty(ty->cx, to));
  int64_t num, den;
  bool same = ty_date_ratio(v.type, to, &num, &den) && num == 1 && den == 1;
  r = ty_date_of(ty, to, same ? raw : unless_nat(ty, r, raw, whole(ty, 0)));
  r.src = v.src;
  return r;
}

bool ty_date_fits(const Type *from, const Type *to) {
  int64_t num, den;
  if (ty_is_integral(from))
    return true;
  if (from->id != to->id)
    return false;
  bool border = from->unit != DATE_GENERIC && to->unit != DATE_GENERIC &&
                (from->unit <= DATE_M) != (to->unit <= DATE_M);
  return border ? from->id == TY_DATETIME : ty_date_ratio(from, to, &num, &den);
}

Val ty_date_cast(Ty *ty, Val v, const Type *to) {
  CX_ASSERT(ty->cx, ty_is_date(to) && !ty_is_bottom(v));
  if (ty_is_date(v.type))
    return to_unit(ty, v, to);
  if (!ty_is_integral(v.type))
    return TY_FAIL(ty, ERR_BAD_OPERAND, ty_name(ty->cx, to), TY_PRETTY(ty, v));
  return ty_date_of(ty, to, ty_cast_id(ty, v, TY_I64));
}

/* --- operators --- */

static Val bad(Ty *ty, Op op, Val a, Val b) {
  return TY_FAIL(ty, ERR_BAD_OPERANDS, ty_op_text(op), TY_PRETTY(ty, a), TY_PRETTY(ty, b));
}

static const Type *common(Ty *ty, TypeId id, Val a, Val b) {
  const Type *t = ty_date_promote(ty->cx, id, a.type, b.type);
  if (!t)
    (void)TY_FAIL(ty, ERR_DATE_UNIT, TY_PRETTY(ty, a), TY_PRETTY(ty, b));
  return t;
}

/* The type as a time span, or a date, of that unit. */
static const Type *as_kind(Ty *ty, TypeId id, const Type *t) {
  return ty_date(ty->cx, id, (DateUnit)t->unit, t->multiple);
}

/* An integer beside a date counts the date's units. */
static Val as_span(Ty *ty, Val v) {
  return ty_is_date(v.type) ? v
                            : ty_date_cast(ty, v, ty_date(ty->cx, TY_TIMEDELTA, DATE_GENERIC, 1));
}

/* + and -: a date and a time span, two time spans, the difference of two dates. */
static Val sum(Ty *ty, Op op, Val a, Val b) {
  a = as_span(ty, a);
  b = as_span(ty, b);
  if (ty_is_bottom(a) || ty_is_bottom(b))
    return BOTTOM;
  bool x = a.type->id == TY_DATETIME, y = b.type->id == TY_DATETIME;
  if ((op == OP_ADD && x && y) || (op == OP_SUB && !x && y))
    return bad(ty, op, a, b);
  const Type *t = common(ty, x != y ? TY_DATETIME : TY_TIMEDELTA, a, b);
  if (!t)
    return BOTTOM;
  a = ty_date_raw(ty, to_unit(ty, a, as_kind(ty, a.type->id, t)));
  b = ty_date_raw(ty, to_unit(ty, b, as_kind(ty, b.type->id, t)));
  return ty_date_of(ty, t, unless_nat(ty, op2(ty, op, a, b), a, b));
}

/* NumPy converts what is finite as C does, and C leaves open what becomes of 2^63 and more: x86
 * gives the lowest integer, which is NaT, and AArch64 the nearest. */
#ifdef __aarch64__
#define CONVERTED INFINITY
#else
#define CONVERTED 0x1p63
#endif

/* A float product or quotient without its fraction; NaT where there is none. A conversion takes
 * infinities to C as well, and finds nan alone. */
static Val of_float(Ty *ty, const Type *t, Val x, Op below) {
  Val size = ty_intrinsic(ty, INTR_MATH_FABS, x.type, &x, 1);
  Val fits = ty_op2(ty, below, pybool(ty), size, ty_scalar_const(ty, TY_F64, CONVERTED));
  Val count = ty_cast_id(ty, x, TY_I64);
  return ty_date_of(ty, t, choose(ty, fits, count, nat(ty)));
}

Val ty_date_of_float(Ty *ty, const Type *t, Val x) {
  return of_float(ty, t, x, isinf(CONVERTED) ? OP_LE : OP_LT);
}

static Val float_op(Ty *ty, Op op, Val span, Val factor) {
  Val raw = ty_date_raw(ty, span), x = ty_cast_id(ty, raw, TY_F64);
  Val r = ty_op2(ty, op, ty_id(ty, TY_F64), x, ty_cast_id(ty, factor, TY_F64));
  r = ty_date_raw(ty, of_float(ty, span.type, r, OP_LT));
  return ty_date_of(ty, span.type, choose(ty, is_nat(ty, raw), nat(ty), r));
}

/* Rounds towards zero, / and // alike, as NumPy has it. */
static Val int_quotient(Ty *ty, Val span, Val n) {
  Val a = ty_date_raw(ty, span), b = ty_cast_id(ty, n, TY_I64), zero = whole(ty, 0);
  Val q = op2(ty, OP_FLOORDIV, a, b), rest = op2(ty, OP_MOD, a, b);
  Val below = op2(ty, OP_LT, a, zero), down = op2(ty, OP_NE, below, op2(ty, OP_LT, b, zero));
  down = both(ty, down, op2(ty, OP_NE, rest, zero));
  q = choose(ty, down, add_int(ty, q, 1), q);
  Val none = is_nat(ty, a);
  none = either(ty, none, op2(ty, OP_EQ, b, zero));
  return ty_date_of(ty, span.type, choose(ty, none, nat(ty), q));
}

static Val by_number(Ty *ty, Op op, Val span, Val n) {
  if (ty_is_float(n.type))
    return float_op(ty, op == OP_MUL ? OP_MUL : OP_TRUEDIV, span, n);
  if (!ty_is_integral(n.type))
    return bad(ty, op, span, n);
  if (op != OP_MUL)
    return int_quotient(ty, span, n);
  Val a = ty_date_raw(ty, span), b = ty_cast_id(ty, n, TY_I64);
  return ty_date_of(ty, span.type, unless_nat(ty, op2(ty, OP_MUL, a, b), a, whole(ty, 0)));
}

/* Of two time spans: a float, an integer that rounds down, the rest. */
static Val quotient(Ty *ty, Op op, Val a, Val b) {
  const Type *t = common(ty, TY_TIMEDELTA, a, b);
  if (!t)
    return BOTTOM;
  a = ty_date_raw(ty, to_unit(ty, a, t));
  b = ty_date_raw(ty, to_unit(ty, b, t));
  Val none = one_is_nat(ty, a, b), zero = whole(ty, 0);
  if (op == OP_TRUEDIV) {
    Val x = ty_cast_id(ty, a, TY_F64), y = ty_cast_id(ty, b, TY_F64);
    Val r = ty_op2(ty, op, x.type, x, y);
    return choose(ty, none, ty_scalar_const(ty, TY_F64, NAN), r);
  }
  if (ty_is_bottom(none))
    return BOTTOM;
  none = either(ty, none, op2(ty, OP_EQ, b, zero));
  Val r = op2(ty, op, a, b);
  return op == OP_MOD ? ty_date_of(ty, t, choose(ty, none, nat(ty), r)) : choose(ty, none, zero, r);
}

/* Nothing holds of NaT but that it differs. */
static Val compared(Ty *ty, Op op, Val a, Val b) {
  bool equality = op == OP_EQ || op == OP_NE;
  bool spans = a.type->id != TY_DATETIME && b.type->id != TY_DATETIME;
  bool numbers = !ty_is_date(a.type) || !ty_is_date(b.type);
  bool integers = numbers && ty_is_integral(ty_is_date(a.type) ? b.type : a.type);
  if (numbers ? !spans || !integers : a.type->id != b.type->id)
    return equality ? ty_cast_id(ty, ty_const_bool(ty, op == OP_NE), TY_BOOL) : bad(ty, op, a, b);
  a = as_span(ty, a);
  b = as_span(ty, b);
  if (ty_is_bottom(a) || ty_is_bottom(b))
    return BOTTOM;
  const Type *t = common(ty, a.type->id, a, b);
  if (!t)
    return BOTTOM;
  a = ty_date_raw(ty, to_unit(ty, a, t));
  b = ty_date_raw(ty, to_unit(ty, b, t));
  /* the other one cannot be, where op holds */
  Val none = is_nat(ty, op == OP_GT || op == OP_GE ? b : a);
  Val holds = op2(ty, op, a, b);
  Val r = op == OP_NE          ? either(ty, holds, none)
          : ty_is_bottom(none) ? BOTTOM
                               : both(ty, holds, ty_negation(ty, none));
  return ty_cast_id(ty, r, TY_BOOL);
}

bool ty_is_date_op(Val a, Val b) {
  return (ty_is_date(a.type) && ty_is_value(b.type)) || (ty_is_date(b.type) && ty_is_value(a.type));
}

Val ty_date_binary(Ty *ty, Op op, Val a, Val b) {
  bool x = a.type->id == TY_TIMEDELTA, y = b.type->id == TY_TIMEDELTA;
  if (op >= OP_LT && op <= OP_GE)
    return compared(ty, op, a, b);
  bool counts = (ty_is_date(a.type) || ty_is_integral(a.type)) &&
                (ty_is_date(b.type) || ty_is_integral(b.type));
  if ((op == OP_ADD || op == OP_SUB) && counts)
    return sum(ty, op, a, b);
  if (x && y && (op == OP_TRUEDIV || op == OP_FLOORDIV || op == OP_MOD))
    return quotient(ty, op, a, b);
  if (x && ty_is_number(b.type) && (op == OP_MUL || op == OP_TRUEDIV || op == OP_FLOORDIV))
    return by_number(ty, op, a, b);
  if (y && ty_is_number(a.type) && op == OP_MUL)
    return by_number(ty, op, b, a);
  return bad(ty, op, a, b);
}

Val ty_date_unary(Ty *ty, Op op, Val a) {
  if (a.type->id != TY_TIMEDELTA || (op != OP_NEG && op != OP_POS))
    return TY_FAIL(ty, ERR_BAD_OPERAND, ty_op_text(op), TY_PRETTY(ty, a));
  /* -NaT is NaT */
  return op == OP_POS ? a : ty_date_of(ty, a.type, sub(ty, whole(ty, 0), ty_date_raw(ty, a)));
}

Val ty_date_truth(Ty *ty, Val v) { return op2(ty, OP_NE, ty_date_raw(ty, v), whole(ty, 0)); }

Val ty_date_abs(Ty *ty, Val v) {
  if (v.type->id != TY_TIMEDELTA)
    return TY_FAIL(ty, ERR_BAD_OPERAND, "abs()", TY_PRETTY(ty, v));
  Val raw = ty_date_raw(ty, v), zero = whole(ty, 0);
  Val below = op2(ty, OP_LT, raw, zero);
  return ty_date_of(ty, v.type, choose(ty, below, sub(ty, zero, raw), raw));
}

Val ty_date_extreme(Ty *ty, const char *name, bool low, bool skips, Val a, Val b) {
  if (a.type->id == TY_TIMEDELTA || b.type->id == TY_TIMEDELTA) {
    a = as_span(ty, a);
    b = as_span(ty, b);
  }
  if (ty_is_bottom(a) || ty_is_bottom(b))
    return BOTTOM;
  if (a.type->id != b.type->id)
    return TY_FAIL(ty, ERR_BAD_OPERANDS, name, TY_PRETTY(ty, a), TY_PRETTY(ty, b));
  const Type *t = common(ty, a.type->id, a, b);
  if (!t)
    return BOTTOM;
  Val x = ty_date_raw(ty, to_unit(ty, a, t)), y = ty_date_raw(ty, to_unit(ty, b, t));
  if (ty_is_bottom(x) || ty_is_bottom(y))
    return BOTTOM;
  Val first = op2(ty, low ? OP_LE : OP_GE, x, y);
  first = both(ty, first, ty_negation(ty, is_nat(ty, skips ? x : y)));
  first = either(ty, first, is_nat(ty, skips ? y : x));
  return ty_date_of(ty, t, choose(ty, first, x, y));
}

Val ty_date_sign(Ty *ty, Val v) {
  Val raw = ty_date_raw(ty, v), zero = whole(ty, 0);
  Val r = choose(ty, op2(ty, OP_LT, raw, zero), whole(ty, -1), zero);
  r = choose(ty, op2(ty, OP_GT, raw, zero), whole(ty, 1), r);
  return ty_date_of(ty, v.type, r); /* of NaT, the lowest integer, -1, as in NumPy */
}

/* --- types --- */

const Type *ty_date_type(Ty *ty, Val dtype) {
  const char *text = NULL, *error = NULL;
  if (dtype.type->id == TY_DTYPE &&
      (dtype.type->frozen->type == TY_DATETIME || dtype.type->frozen->type == TY_TIMEDELTA))
    text = dtype.type->frozen->text;
  else if (dtype.konst && dtype.konst->kind == FZ_STR &&
           ty_date_text_id(dtype.konst->text) != TY_SCALARS)
    text = dtype.konst->text;
  return text ? ty_parse_date(ty->cx, &text, &error) : NULL;
}
