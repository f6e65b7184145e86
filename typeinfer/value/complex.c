/* Complex: arithmetic of complex numbers as operations on their two parts.
 *
 * A complex value is packed (emit.c): its parts are floats, and its type says what they mean
 * together. So the strict code has float operations, MAKE_TUPLE and TUPLE_GET only, and phis,
 * selects, calls and parameters need nothing of their own. Each formula is the one of NumPy's
 * scalars, so that with fma=False the results have the same bits; two weak numbers follow CPython
 * where it differs. */
#include <math.h>

#include "typeinfer/value/dates.h"
#include "typeinfer/value/value.h"

/* --- parts --- */

Val ty_complex(Ty *ty, const Type *t, Val re, Val im) {
  Val r = ty_pack(ty, t, (Val[]){re, im}, 2);
  if (!ty_is_bottom(r) && re.konst && im.konst)
    r.konst = fz_complex(ty->cx, t->id, re.konst->re, im.konst->re);
  return r;
}

Val ty_part(Ty *ty, Val z, uint32_t k) {
  CX_ASSERT(ty->cx, ty_is_bottom(z) || (ty_is_complex(z.type) && k < 2));
  return ty_item(ty, z, k);
}

static Val part_const(Ty *ty, const Type *t, double v) {
  return ty_scalar_const(ty, ty_part_id(t->id), v);
}

Val ty_to_complex(Ty *ty, Val v, const Type *t) {
  const Type *part = ty_id(ty, ty_part_id(t->id));
  if (ty_is_bottom(v) || v.type == t)
    return v;
  bool real = !ty_is_complex(v.type);
  Val re = ty_cast(ty, real ? v : ty_part(ty, v, 0), part);
  Val im = real ? part_const(ty, t, 0) : ty_cast(ty, ty_part(ty, v, 1), part);
  Val r = ty_complex(ty, t, re, im);
  r.src = v.src;
  return r;
}

bool ty_can_store(const Type *value, const Type *elem) {
  if (ty_is_date(elem))
    return ty_is_value(value) && ty_date_fits(value, elem);
  return ty_is_number(value) && (ty_is_complex(elem) || !ty_is_complex(value));
}

/* --- operations on parts; weak constants are folded --- */

static Val op2(Ty *ty, Op op, Val a, Val b) {
  if (ty_is_bottom(a) || ty_is_bottom(b))
    return BOTTOM;
  const Frozen *k = ty_is_weak(a.type) ? ty_fold_binary(ty->cx, op, a.konst, b.konst) : NULL;
  return k ? ty_constant(ty, k, a.type->id) : ty_op2(ty, op, a.type, a, b);
}

static Val add(Ty *ty, Val a, Val b) { return op2(ty, OP_ADD, a, b); }
static Val sub(Ty *ty, Val a, Val b) { return op2(ty, OP_SUB, a, b); }
static Val mul(Ty *ty, Val a, Val b) { return op2(ty, OP_MUL, a, b); }
static Val divide(Ty *ty, Val a, Val b) { return op2(ty, OP_TRUEDIV, a, b); }

static Val negative(Ty *ty, Val a) {
  if (ty_is_bottom(a))
    return BOTTOM;
  return a.konst ? ty_scalar_const(ty, a.type->id, -a.konst->re) : ty_op1(ty, OP_NEG, a.type, a);
}

static Val compare(Ty *ty, Op op, Val a, Val b) {
  return ty_op2(ty, op, ty_id(ty, TY_PYBOOL), a, b);
}
static Val both(Ty *ty, Val a, Val b) { return ty_both(ty, OP_AND, a, b); }
static Val either(Ty *ty, Val a, Val b) { return ty_both(ty, OP_OR, a, b); }

static Val magnitude(Ty *ty, Val a) { return ty_intrinsic(ty, INTR_MATH_FABS, a.type, &a, 1); }

/* --- one operand --- */

Val ty_complex_truth(Ty *ty, Val z) {
  Val re = ty_op1(ty, OP_TRUTH, ty_id(ty, TY_PYBOOL), ty_part(ty, z, 0));
  return either(ty, re, ty_op1(ty, OP_TRUTH, ty_id(ty, TY_PYBOOL), ty_part(ty, z, 1)));
}

Val ty_complex_negative(Ty *ty, Val z) {
  Val re = negative(ty, ty_part(ty, z, 0));
  return ty_complex(ty, z.type, re, negative(ty, ty_part(ty, z, 1)));
}

Val ty_complex_conjugate(Ty *ty, Val z) {
  Val re = ty_part(ty, z, 0);
  return ty_complex(ty, z.type, re, negative(ty, ty_part(ty, z, 1)));
}

Val ty_complex_abs(Ty *ty, Val z) {
  Val parts[] = {ty_part(ty, z, 0), ty_part(ty, z, 1)};
  return ty_intrinsic(ty, INTR_MATH_HYPOT, parts[0].type, parts, 2);
}

Val ty_complex_of(Ty *ty, const Type *t, Val re, Val im) {
  if (ty_is_bottom(re) || ty_is_bottom(im))
    return BOTTOM;
  if (!ty_is_number(re.type) || !ty_is_number(im.type))
    return TY_FAIL(ty, ERR_BAD_OPERANDS, arena_printf(&ty->cx->arena, "%s()", ty_name(ty->cx, t)),
                   TY_PRETTY(ty, re), TY_PRETTY(ty, im));
  Val a = ty_to_complex(ty, re, t), b = ty_to_complex(ty, im, t);
  /* re + im * 1j, without what that adds to zeros */
  Val x = ty_part(ty, a, 0), y = ty_part(ty, b, 0);
  if (ty_is_complex(im.type))
    x = sub(ty, x, ty_part(ty, b, 1));
  if (ty_is_complex(re.type))
    y = add(ty, ty_part(ty, a, 1), y);
  return ty_complex(ty, t, x, y);
}

/* --- two operands of one type --- */

typedef struct Pair {
  const Type *t;
  Val ar, ai, br, bi;
} Pair;

static Pair pair_of(Ty *ty, Val a, Val b) {
  Pair p = {.t = a.type};
  p.ar = ty_part(ty, a, 0);
  p.ai = ty_part(ty, a, 1);
  p.br = ty_part(ty, b, 0);
  p.bi = ty_part(ty, b, 1);
  return p;
}

static Val multiply(Ty *ty, const Pair *p) {
  Val rr = mul(ty, p->ar, p->br), ii = mul(ty, p->ai, p->bi);
  Val ri = mul(ty, p->ar, p->bi), ir = mul(ty, p->ai, p->br);
  Val re = sub(ty, rr, ii);
  return ty_complex(ty, p->t, re, add(ty, ri, ir));
}

/* Smith's division (Communications of the ACM 5, 1962, algorithm 116), which scales by the larger
 * part of the divisor: NumPy multiplies by the reciprocal of the denominator, CPython divides by
 * it. Both branches are computed; a divisor of 0 gives infinities and nans, as NumPy has it, by a
 * product, since a quotient that is seldom read takes as long as one that is. */
static Val smith(Ty *ty, const Pair *p) {
  Val size_re = magnitude(ty, p->br), size_im = magnitude(ty, p->bi);
  Val big = compare(ty, OP_GE, size_re, size_im);
  Val large = ty_select(ty, big, p->br, p->bi), small = ty_select(ty, big, p->bi, p->br);
  Val none = add(ty, size_re, size_im), zero = compare(ty, OP_EQ, none, part_const(ty, p->t, 0));
  Val ratio = divide(ty, small, large), scale = add(ty, large, mul(ty, small, ratio));
  Val r = mul(ty, p->ar, ratio), i = mul(ty, p->ai, ratio);
  Val first = add(ty, p->ar, i), second = add(ty, r, p->ai);
  Val re = ty_select(ty, big, first, second);
  first = sub(ty, p->ai, r);
  second = sub(ty, i, p->ar);
  Val im = ty_select(ty, big, first, second);
  if (ty_is_weak(p->t)) {
    re = divide(ty, re, scale);
    im = divide(ty, im, scale);
  } else {
    scale = divide(ty, part_const(ty, p->t, 1), scale);
    re = mul(ty, re, scale);
    im = mul(ty, im, scale);
  }
  Val endless = part_const(ty, p->t, INFINITY);
  re = ty_select(ty, zero, mul(ty, p->ar, endless), re);
  return ty_complex(ty, p->t, re, ty_select(ty, zero, mul(ty, p->ai, endless), im));
}

/* By the real parts, then the imaginary ones. */
static Val ordered(Ty *ty, Op op, const Pair *p) {
  Op strict = op == OP_LE ? OP_LT : op == OP_GE ? OP_GT : op;
  Val first = compare(ty, strict, p->ar, p->br), same = compare(ty, OP_EQ, p->ar, p->br);
  return either(ty, first, both(ty, same, compare(ty, op, p->ai, p->bi)));
}

/* NumPy's ufuncs, unlike its scalars' operators: the real parts decide only where no imaginary part
 * is a nan. */
Val ty_complex_ordered(Ty *ty, Op op, Val a, Val b) {
  Pair p = pair_of(ty, a, b);
  Val order = ordered(ty, op, &p), same = compare(ty, OP_EQ, p.ar, p.br);
  Val whole = compare(ty, OP_EQ, p.ai, p.ai);
  whole = both(ty, whole, compare(ty, OP_EQ, p.bi, p.bi));
  return both(ty, order, either(ty, same, whole));
}

static Val compared(Ty *ty, const TyOp *types, const Pair *p) {
  Val r;
  if (types->op == OP_EQ || types->op == OP_NE) {
    r = compare(ty, types->op, p->ar, p->br);
    Val im = compare(ty, types->op, p->ai, p->bi);
    r = types->op == OP_EQ ? both(ty, r, im) : either(ty, r, im);
  } else {
    r = ordered(ty, types->op, p);
  }
  return ty_cast_id(ty, r, types->result);
}

Val ty_complex_multiply(Ty *ty, Val a, Val b) {
  Pair p = pair_of(ty, a, b);
  return multiply(ty, &p);
}

Val ty_complex_binary(Ty *ty, const TyOp *types, Val a, Val b) {
  CX_ASSERT(ty->cx, types->ok && types->left == types->right && types->op != OP_POW);
  const Type *t = ty_id(ty, types->left);
  a = ty_to_complex(ty, a, t);
  b = ty_to_complex(ty, b, t);
  if (ty_is_bottom(a) || ty_is_bottom(b))
    return BOTTOM;
  Pair p = pair_of(ty, a, b);
  Val re;
  switch (types->op) {
  case OP_ADD: re = add(ty, p.ar, p.br); return ty_complex(ty, t, re, add(ty, p.ai, p.bi));
  case OP_SUB: re = sub(ty, p.ar, p.br); return ty_complex(ty, t, re, sub(ty, p.ai, p.bi));
  case OP_MUL: return multiply(ty, &p);
  case OP_TRUEDIV: return smith(ty, &p);
  default: return compared(ty, types, &p);
  }
}
