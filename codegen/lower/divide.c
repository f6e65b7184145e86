/* Divide: floor division and modulo of integers, defined for every operand: by 0 both are 0, and
 * the smallest integer by -1 is itself, wrapped, with remainder 0.
 *
 * A GPU has no division of integers: 32 bits take 15 instructions, 64 bits 70 and a call. So a
 * 64-bit division by what is known at run time only asks first how large its operands are. If both
 * fit 32 bits, which also says that neither is negative, one 32-bit division is all. Others are
 * divided as unsigned numbers, and only where one is negative takes the corrections for signs.
 * LLVM's code generator makes such a test too, but behind all that the signs need. It is left alone
 * with hashes, which have 64 bits.
 *
 * Powers of two are shifts and masks, of negative numbers too.
 *
 * `x // n` and `x % n` of the same operands in one block are computed together, with one division
 * and a product. So are `i * up // down` and `i * up % down`, whose operands are computed twice: no
 * pass has merged what is equal yet. */
#include "codegen/llvm/compat.h"
#include "codegen/llvm/match.h"
#include "codegen/lower/private.h"
#include "ir/cfg.h"

typedef struct Division {
  LLVMValueRef quotient, rest; /* NULL: not wanted */
} Division;

typedef struct Wanted {
  bool quotient, rest;
} Wanted;

/* x / y and the remainder, truncating; y is not 0. The host's instruction gives both at once. */
static Division truncating(Lower *lw, Wanted w, LLVMValueRef x, LLVMValueRef y, bool is_signed) {
  LLVMBuilderRef b = lw->b;
  Division d = {0};
  if (w.quotient)
    d.quotient = l_binop(b, is_signed ? LLVMSDiv : LLVMUDiv, x, y);
  if (w.quotient && w.rest && lw->target->narrows)
    d.rest = l_sub(b, x, l_mul(b, d.quotient, y));
  else if (w.rest)
    d.rest = l_binop(b, is_signed ? LLVMSRem : LLVMURem, x, y);
  return d;
}

static Division divide_unsigned(Lower *lw, Wanted w, LLVMValueRef x, LLVMValueRef y) {
  LLVMTypeRef t = LLVMTypeOf(x);
  LLVMValueRef by_zero = l_icmp(lw->b, LLVMIntEQ, y, LLVMConstNull(t));
  LLVMValueRef safe = l_select(lw->b, by_zero, l_int(t, 1), y);
  Division d = truncating(lw, w, x, safe, false);
  if (w.quotient) /* the remainder by 1 is 0 already */
    d.quotient = l_select(lw->b, by_zero, LLVMConstNull(t), d.quotient);
  return d;
}

/* k if y is 2**k, else -1. */
static int power_of_two(LLVMValueRef y) {
  uint64_t n = LLVMIsAConstantInt(y) && LLVMGetIntTypeWidth(LLVMTypeOf(y)) <= 64
                   ? LLVMConstIntGetZExtValue(y)
                   : 0;
  int k = 0;
  while (k < 64 && n >> k > 1)
    k++;
  bool negative = n && k == (int)LLVMGetIntTypeWidth(LLVMTypeOf(y)) - 1;
  return n && n == 1ull << k && !negative ? k : -1;
}

/* A signed x by 2**k: its bits are those of two's complement, so the shift rounds down, and the
 * bits that it drops are the remainder. LLVM would not find that behind a division that truncates
 * and its correction. */
static Division divide_by_power(Lower *lw, Wanted w, LLVMValueRef x, int k) {
  LLVMTypeRef t = LLVMTypeOf(x);
  Division d = {0};
  if (w.quotient)
    d.quotient = l_ashr(lw->b, x, l_int(t, (uint64_t)k));
  if (w.rest)
    d.rest = l_and(lw->b, x, l_int(t, (1ull << k) - 1));
  return d;
}

/* Where the divisor is positive, or the negative of x fits: floor(x / y) is floor(-x / -y), and for
 * a negative x it is ~(~x / y), of numbers that are not negative. */
static Division divide_rounding(Lower *lw, Wanted w, LLVMValueRef x, LLVMValueRef y) {
  LLVMTypeRef t = LLVMTypeOf(x);
  LLVMBuilderRef b = lw->b;
  LLVMValueRef zero = LLVMConstNull(t), one = l_int(t, 1);
  LLVMValueRef by_zero = l_icmp(b, LLVMIntEQ, y, zero), safe = l_select(b, by_zero, one, y);
  LLVMValueRef size = lw_intrinsic(lw, "llvm.abs", &t, 1,
                                   (LLVMValueRef[]){safe, LLVMConstNull(lw->t->i1)}, 2);
  LLVMValueRef of = l_select(b, l_icmp(b, LLVMIntSLT, safe, zero), l_neg(b, x), x);
  LLVMValueRef sign = l_ashr(b, of, l_int(t, LLVMGetIntTypeWidth(t) - 1));
  LLVMValueRef q = l_xor(b, l_binop(b, LLVMUDiv, l_xor(b, of, sign), size), sign);
  Division d = {.quotient = l_select(b, by_zero, zero, q)};
  if (w.rest)
    d.rest = l_sub(b, x, l_mul(b, q, safe));
  return d;
}

/* The remainder alone, by a y of 0 or more: for a negative x it is y - 1 - ~x % y, the sum of y and
 * ~(~x % y). That sum is less than its term as an unsigned number, which a remainder that is not
 * negative is not, so a minimum chooses. */
static LLVMValueRef rest_by_positive(Lower *lw, LLVMValueRef x, LLVMValueRef y) {
  LLVMTypeRef t = LLVMTypeOf(x);
  LLVMBuilderRef b = lw->b;
  LLVMValueRef by_zero = l_icmp(b, LLVMIntEQ, y, LLVMConstNull(t)),
               safe = l_select(b, by_zero, l_int(t, 1), y),
               sign = l_ashr(b, x, l_int(t, LLVMGetIntTypeWidth(t) - 1)),
               rest = l_xor(b, l_urem(b, l_xor(b, x, sign), safe), sign);
  return lw_intrinsic(lw, "llvm.umin", &t, 1, (LLVMValueRef[]){rest, l_add(b, rest, safe)}, 2);
}

/* The smallest integer divided by -1 overflows. Divided by 1 instead it gives itself, which is the
 * wrapped result, and remainder 0. `exact`: that cannot happen. */
static Division divide_signed(Lower *lw, Wanted w, LLVMValueRef x, LLVMValueRef y, bool exact) {
  LLVMTypeRef t = LLVMTypeOf(x);
  LLVMBuilderRef b = lw->b;
  if (power_of_two(y) >= 0)
    return divide_by_power(lw, w, x, power_of_two(y));
  bool positive = LLVMIsAConstantInt(y) && LLVMGetIntTypeWidth(t) <= 64 &&
                  LLVMConstIntGetSExtValue(y) > 0;
  if (positive || (lw->target->narrows && exact))
    return divide_rounding(lw, w, x, y);
  LLVMValueRef zero = LLVMConstNull(t), one = l_int(t, 1);
  LLVMValueRef lowest = l_int(t, 1ull << (LLVMGetIntTypeWidth(t) - 1));
  LLVMValueRef by_zero = l_icmp(b, LLVMIntEQ, y, zero);
  LLVMValueRef minus = l_icmp(b, LLVMIntEQ, y, LLVMConstAllOnes(t));
  LLVMValueRef overflow = l_and(b, l_icmp(b, LLVMIntEQ, x, lowest), minus);
  LLVMValueRef safe = l_select(b, l_or(b, by_zero, overflow), one, y);
  Division d = truncating(lw, (Wanted){w.quotient, true}, x, safe, true);
  LLVMValueRef signs = l_icmp(b, LLVMIntSLT, l_xor(b, d.rest, safe), zero);
  LLVMValueRef adjust = l_and(b, l_icmp(b, LLVMIntNE, d.rest, zero), signs);
  d.rest = l_select(b, adjust, l_add(b, d.rest, safe), d.rest);
  if (w.quotient)
    d.quotient = l_select(b, by_zero, zero, l_sub(b, d.quotient, l_zext(b, adjust, t)));
  return d;
}

/* The remainder alone of an x of 32 bits from 0 to 2**31 - 1. By a y of 0 or more it is the
 * unsigned one; by a negative y it is the one by its magnitude of x + (-y - 1), less that. This sum
 * fits, and is known as soon as y is: nothing but a difference comes behind the remainder, for
 * which all wait. */
static LLVMValueRef rest_of_short(Lower *lw, LLVMValueRef x, LLVMValueRef y) {
  LLVMTypeRef t = LLVMTypeOf(x);
  LLVMBuilderRef b = lw->b;
  LLVMValueRef zero = LLVMConstNull(t), by_zero = l_icmp(b, LLVMIntEQ, y, zero),
               size = lw_intrinsic(lw, "llvm.abs", &t, 1,
                                   (LLVMValueRef[]){y, LLVMConstNull(lw->t->i1)}, 2),
               more = lw_intrinsic(lw, "llvm.smax", &t, 1, (LLVMValueRef[]){l_not(b, y), zero}, 2),
               safe = l_select(b, by_zero, l_int(t, 1), size);
  return l_sub(b, l_urem(b, l_add_nuw(b, x, more), safe), more);
}

/* x is not negative: an unsigned division by the magnitude of y, and a correction where that is
 * negative. */
static Division divide_positive(Lower *lw, Wanted w, LLVMValueRef x, LLVMValueRef y) {
  LLVMTypeRef t = LLVMTypeOf(x);
  LLVMBuilderRef b = lw->b;
  LLVMValueRef zero = LLVMConstNull(t), by_zero = l_icmp(b, LLVMIntEQ, y, zero);
  LLVMValueRef size = lw_intrinsic(lw, "llvm.abs", &t, 1,
                                   (LLVMValueRef[]){y, LLVMConstNull(lw->t->i1)}, 2);
  Division d = truncating(lw, (Wanted){w.quotient, true}, x,
                          l_select(b, by_zero, l_int(t, 1), size), false);
  LLVMValueRef negative = l_icmp(b, LLVMIntSLT, y, zero);
  LLVMValueRef adjust = l_and(b, l_icmp(b, LLVMIntNE, d.rest, zero), negative);
  d.rest = l_add(b, d.rest, l_select(b, adjust, y, zero));
  if (w.quotient) {
    LLVMValueRef below = l_sub(b, l_neg(b, d.quotient), l_zext(b, adjust, t));
    d.quotient = l_select(b, by_zero, zero, l_select(b, negative, below, d.quotient));
  }
  return d;
}

/* --- 64 bits by what is known at run time --- */

/* The phis of a division that is computed in several ways. */
typedef struct Joined {
  LLVMBasicBlockRef block;
  Division phis;
} Joined;

static void join(Lower *lw, const Joined *to, Division d) {
  LLVMBasicBlockRef here = LLVMGetInsertBlock(lw->b);
  if (to->phis.quotient)
    LLVMAddIncoming(to->phis.quotient, &d.quotient, &here, 1);
  if (to->phis.rest)
    LLVMAddIncoming(to->phis.rest, &d.rest, &here, 1);
  l_br(lw->b, to->block);
}

static Joined open_join(Lower *lw, Wanted w, LLVMTypeRef t) {
  LLVMBasicBlockRef here = LLVMGetInsertBlock(lw->b);
  Joined to = {.block = lw_block(lw, "divided")};
  lw_at(lw, to.block);
  if (w.quotient)
    to.phis.quotient = l_phi(lw->b, t);
  if (w.rest)
    to.phis.rest = l_phi(lw->b, t);
  lw_at(lw, here);
  return to;
}

static Division divide_short(Lower *lw, Wanted w, LLVMValueRef x, LLVMValueRef y) {
  LLVMTypeRef t = lw->t->i32;
  x = l_trunc(lw->b, x, t), y = l_trunc(lw->b, y, t);
  LLVMValueRef by_zero = l_icmp(lw->b, LLVMIntEQ, y, LLVMConstNull(t));
  Division d = truncating(lw, w, x, l_select(lw->b, by_zero, l_int(t, 1), y), false);
  if (w.quotient)
    d.quotient = l_zext(lw->b, d.quotient, lw->t->i64);
  if (w.rest)
    d.rest = l_zext(lw->b, d.rest, lw->t->i64);
  return d;
}

static Division unsigned_long(Lower *lw, Wanted w, LLVMValueRef x, LLVMValueRef y) {
  Division d = truncating(lw, w, x, y, false);
  cg_mark_long_division(lw->cg, d.quotient);
  cg_mark_long_division(lw->cg, d.rest);
  return d;
}

/* Two numbers of which one is negative, as unsigned ones. That of y does not depend on x, so that
 * y's reciprocal is the same for all x (nvptx/floats/reciprocals.c). */
typedef struct Magnitudes {
  LLVMValueRef x, y;
  LLVMValueRef below; /* i1: the quotient is negative, and x is one less */
} Magnitudes;

static LLVMValueRef magnitude(Lower *lw, LLVMValueRef v) {
  LLVMValueRef wraps = LLVMConstNull(lw->t->i1);
  return lw_intrinsic(lw, "llvm.abs", &lw->t->i64, 1, (LLVMValueRef[]){v, wraps}, 2);
}

static Magnitudes magnitudes(Lower *lw, LLVMValueRef x, LLVMValueRef y, LLVMValueRef y_magnitude) {
  LLVMTypeRef t = lw->t->i64;
  LLVMBuilderRef b = lw->b;
  LLVMValueRef zero = LLVMConstNull(t);
  Magnitudes m = {.y = y_magnitude};
  m.below = l_and(b, l_icmp(b, LLVMIntSLT, l_xor(b, x, y), zero), l_icmp(b, LLVMIntNE, x, zero));
  m.x = l_sub(b, magnitude(lw, x), l_zext(b, m.below, t));
  return m;
}

/* floor(-a / b) is -1 - (a - 1) / b, with remainder b - 1 - (a - 1) % b. */
static Division with_signs(Lower *lw, Division d, const Magnitudes *m, LLVMValueRef y) {
  LLVMTypeRef t = lw->t->i64;
  LLVMBuilderRef b = lw->b;
  if (d.quotient)
    d.quotient = l_select(b, m->below, l_not(b, d.quotient), d.quotient);
  if (d.rest) {
    LLVMValueRef other = l_sub(b, l_sub(b, m->y, l_int(t, 1)), d.rest);
    d.rest = l_select(b, m->below, other, d.rest);
    d.rest = l_select(b, l_icmp(b, LLVMIntSLT, y, LLVMConstNull(t)), l_neg(b, d.rest), d.rest);
  }
  return d;
}

static LLVMValueRef either_of(Lower *lw, LLVMValueRef x, LLVMBasicBlockRef of_x, LLVMValueRef y,
                              LLVMBasicBlockRef of_y) {
  LLVMValueRef phi = l_phi(lw->b, LLVMTypeOf(x));
  LLVMAddIncoming(phi, &x, &of_x, 1);
  LLVMAddIncoming(phi, &y, &of_y, 1);
  return phi;
}

/* Divides unsigned numbers, which may be the magnitudes of signed ones. y is not 0. */
static void divide_long(Lower *lw, Wanted w, LLVMValueRef x, LLVMValueRef y, const Joined *to,
                        LLVMValueRef is_negative) {
  LLVMBuilderRef b = lw->b;
  if (!is_negative) {
    join(lw, to, unsigned_long(lw, w, x, y));
    return;
  }
  LLVMBasicBlockRef from = LLVMGetInsertBlock(b), negative = lw_block(lw, "negative"),
                    both = lw_block(lw, "magnitudes"), fix = lw_block(lw, "signs");
  LLVMValueRef y_magnitude = magnitude(lw, y);
  l_condbr(b, is_negative, negative, both);
  lw_at(lw, negative);
  Magnitudes m = magnitudes(lw, x, y, y_magnitude);
  l_br(b, both);
  lw_at(lw, both);
  m.x = either_of(lw, x, from, m.x, negative);
  m.below = either_of(lw, LLVMConstNull(lw->t->i1), from, m.below, negative);
  Division d = unsigned_long(lw, w, m.x, m.y);
  LLVMBasicBlockRef divided = LLVMGetInsertBlock(b);
  l_condbr(b, is_negative, fix, to->block);
  if (d.quotient)
    LLVMAddIncoming(to->phis.quotient, &d.quotient, &divided, 1);
  if (d.rest)
    LLVMAddIncoming(to->phis.rest, &d.rest, &divided, 1);
  lw_at(lw, fix);
  join(lw, to, with_signs(lw, d, &m, y));
}

static Division divide_by_size(Lower *lw, Wanted w, LLVMValueRef x, LLVMValueRef y,
                               bool is_signed) {
  LLVMBuilderRef b = lw->b;
  LLVMTypeRef t = lw->t->i64;
  LLVMValueRef by_zero = l_icmp(b, LLVMIntEQ, y, LLVMConstNull(t)), either = l_or(b, x, y);
  Joined to = open_join(lw, w, t);
  LLVMBasicBlockRef is_short = lw_block(lw, "short"), is_long = lw_block(lw, "long");
  l_condbr(b, l_icmp(b, LLVMIntULT, either, l_int(t, 1ull << 32)), is_short, is_long);
  lw_at(lw, is_short);
  join(lw, &to, divide_short(lw, w, x, y));
  lw_at(lw, is_long);
  LLVMValueRef is_negative = is_signed ? l_icmp(b, LLVMIntSLT, either, LLVMConstNull(t)) : NULL;
  divide_long(lw, w, x, l_select(b, by_zero, l_int(t, 1), y), &to, is_negative);
  lw_at(lw, to.block);
  if (w.quotient) /* the remainder by 1 is 0 already */
    to.phis.quotient = l_select(b, by_zero, LLVMConstNull(t), to.phis.quotient);
  return to.phis;
}

/* --- the operations --- */

static bool is_hash(LLVMValueRef x) { return cg_is_op(x, LLVMXor); }

static Division divide(Lower *lw, Wanted w, LLVMValueRef x, LLVMValueRef y, bool is_signed) {
  if (lw->target->narrows && lw->cg->options.opt && LLVMTypeOf(x) == lw->t->i64 &&
      !LLVMIsAConstant(y) && !is_hash(x))
    return divide_by_size(lw, w, x, y, is_signed);
  return is_signed ? divide_signed(lw, w, x, y, false) : divide_unsigned(lw, w, x, y);
}

/* --- what has been divided ---
 *
 * LLVM does not merge two equal divisions that have branches, so none is made twice. */

typedef struct Divided {
  const Ins *by; /* the operation */
  LLVMValueRef x, y;
  bool is_signed;
  Division is;
} Divided;

struct Divisions {
  VEC(Divided) all;
};

/* Operand k of two divisions. */
static bool is_same(const Ins *a, const Ins *b, uint32_t k) {
  return ir_is_same_value(a->args[k], b->args[k]);
}

/* The result of a division before this one, on all paths to it; NULL: there is none. */
static LLVMValueRef divided_before(const Lower *lw, const Ins *i, const Divided *as) {
  for (uint32_t k = 0; lw->divisions && k < lw->divisions->all.len; k++) {
    const Divided *d = &lw->divisions->all.data[k];
    LLVMValueRef v = i->op == OP_FLOORDIV ? d->is.quotient : d->is.rest;
    if (v && d->is_signed == as->is_signed && ir_dominates(d->by->block, i->block) &&
        (d->y == as->y || is_same(d->by, i, 1)) && (d->x == as->x || is_same(d->by, i, 0)))
      return v;
  }
  return NULL;
}

/* Does the block divide the same operands once more, for the other result? */
static bool has_twin(const Ins *i) {
  for (const Ins *n = i->next; n; n = n->next)
    if ((n->op == OP_FLOORDIV || n->op == OP_MOD) && n->op != i->op && is_same(n, i, 1) &&
        is_same(n, i, 0)) /* divisors are the shorter ones */
      return true;
  return false;
}

/* Does x fit 32 bits as a signed number and as an unsigned one, where y is known at run time only?
 */
static bool is_of_positive(const Ins *x, LLVMValueRef y) {
  return !LLVMIsAConstant(y) &&
         (x->flags & INS_NONNEGATIVE || (x->flags & INS_I32 && x->flags & INS_U32));
}

/* Is it the remainder of a uint32 by an int32, hash % count, alone? It is an int32. */
static bool is_mixed_rest(const Lower *lw, const Ins *i, LLVMValueRef y) {
  return lw->target->narrows && i->op == OP_MOD && !LLVMIsAConstant(y) && i->flags & INS_I32 &&
         i->args[0]->flags & INS_U32 && i->args[1]->flags & INS_I32 && !has_twin(i);
}

/* Is it a signed remainder of 32 bits, alone, by a number of 0 or more that is known at run time
 * only? */
static bool is_rest_by_positive(const Lower *lw, const Ins *i, LLVMValueRef y) {
  return lw->target->narrows && i->op == OP_MOD && LLVMTypeOf(y) == lw->t->i32 &&
         !LLVMIsAConstant(y) && i->args[1]->flags & INS_NONNEGATIVE && !has_twin(i);
}

/* Of operands that are known to fit 32 bits. */
static LLVMValueRef divide_narrow(Lower *lw, const Ins *i, LLVMValueRef x, LLVMValueRef y) {
  Wanted w = {i->op == OP_FLOORDIV, i->op != OP_FLOORDIV};
  x = lw_low(lw, x), y = lw_low(lw, y);
  if (!(i->flags & INS_OF_U32) && !is_of_positive(i->args[0], y) && is_rest_by_positive(lw, i, y))
    return rest_by_positive(lw, x, y);
  if (!(i->flags & INS_OF_U32) && is_of_positive(i->args[0], y) && lw->target->narrows && w.rest &&
      !has_twin(i))
    return rest_of_short(lw, x, y);
  Division d = i->flags & INS_OF_U32           ? divide_unsigned(lw, w, x, y)
               : is_of_positive(i->args[0], y) ? divide_positive(lw, w, x, y)
                                               : divide_signed(lw, w, x, y, i->flags & INS_NO_WRAP);
  return w.quotient ? d.quotient : d.rest;
}

static LLVMValueRef divided(Lower *lw, Ins *i, LLVMValueRef x, LLVMValueRef y) {
  if (i->flags & (INS_OF_I32 | INS_OF_U32))
    return lw_extended(lw, i, divide_narrow(lw, i, x, y));
  bool quotient = i->op == OP_FLOORDIV, known = LLVMIsAConstant(y) || !lw->target->narrows;
  bool positive = (i->args[0]->flags & i->args[1]->flags & INS_NONNEGATIVE) != 0;
  if (ty_is_signed(i->type) && !positive && is_rest_by_positive(lw, i, y))
    return rest_by_positive(lw, x, y);
  Divided as = {i, x, y, ty_is_signed(i->type) && !positive, {0}};
  LLVMValueRef v = known ? NULL : divided_before(lw, i, &as);
  if (!v && is_mixed_rest(lw, i, y)) {
    Division d = divide_positive(lw, (Wanted){false, true}, lw_low(lw, x), lw_low(lw, y));
    return lw_extended(lw, i, d.rest);
  }
  if (!v) {
    bool twin = !known && has_twin(i);
    as.is = divide(lw, (Wanted){quotient || twin, !quotient || twin}, x, y, as.is_signed);
    v = quotient ? as.is.quotient : as.is.rest;
  }
  if (!known && (as.is.quotient || as.is.rest)) {
    if (!lw->divisions)
      lw->divisions = CX_NEW(lw->cx, struct Divisions);
    VEC_PUSH(&lw->cx->arena, &lw->divisions->all, as);
  }
  return v;
}

/* --- a few steps around a period ---
 *
 *   left, right = (i - 1) % n, (i + 1) % n
 *   left, right = (i + n - 1) % n, (i + 1) % n
 *
 * Where 0 <= i < n, each step is a comparison and a selection. That is asked, and divided where it
 * does not hold. Where a guard says it already, LLVM or nvptx's periodic.c drops the question. */

enum { MOST_STEPS = 4 };

/* Is it the period, which a few steps down add first: (i + n - 1) % n? The sum does not wrap. */
static bool is_period(const Ins *i, const Ins *v) {
  return ir_is_same_value(v, i->args[1]) && ty_bits(i->type) == 64 && i->args[1]->flags & INS_I32;
}

/* The index that the operation steps from, and how far; NULL of others. That or the period is known
 * to be 0 or more, so that one comparison says whether the index is one of so many places. */
static Ins *stepped_from(const Lower *lw, const Ins *i, LLVMValueRef y, int64_t *by) {
  enum { MOST_SUMS = 3 };
  Ins *x = i->args[0];
  int64_t n;
  if (!lw->target->narrows || !lw->cg->options.opt || i->op != OP_MOD || !ty_is_signed(i->type) ||
      LLVMIsAConstant(y) || has_twin(i))
    return NULL;
  *by = 0;
  for (unsigned sums = 0; sums < MOST_SUMS && (x->op == OP_ADD || x->op == OP_SUB); sums++) {
    bool first = x->op == OP_ADD && (x->args[0]->op == OP_CONST || is_period(i, x->args[0]));
    unsigned k = first ? 0 : 1;
    bool step = x->args[k]->op == OP_CONST && fz_get_int(x->args[k]->aux.frozen, &n) &&
                n >= -MOST_STEPS && n <= MOST_STEPS;
    if (!step && !(x->op == OP_ADD && is_period(i, x->args[k])))
      break;
    *by += !step ? 0 : x->op == OP_ADD ? n : -n;
    x = x->args[!k];
  }
  bool steps = x != i->args[0] && *by >= -MOST_STEPS && *by <= MOST_STEPS && x->type == i->type;
  /* that the sum fits 32 bits where it is divided says nothing of x */
  bool fits = i->flags & INS_OF_I32 ? (x->flags & INS_I32) != 0 : !(i->flags & INS_OF_U32);
  return steps && fits && (x->flags | i->args[1]->flags) & INS_NONNEGATIVE ? x : NULL;
}

static LLVMValueRef step_around(Lower *lw, LLVMValueRef at, LLVMValueRef n, bool up) {
  LLVMTypeRef t = LLVMTypeOf(at);
  LLVMBuilderRef b = lw->b;
  LLVMValueRef zero = LLVMConstNull(t);
  if (!up)
    return l_sub(b, l_select(b, l_icmp(b, LLVMIntEQ, at, zero), n, at), l_int(t, 1));
  LLVMValueRef next = l_add(b, at, l_int(t, 1));
  return l_select(b, l_icmp(b, LLVMIntEQ, next, n), zero, next);
}

/* The remainder by y of `from` and `by`. */
static LLVMValueRef stepped(Lower *lw, Ins *i, LLVMValueRef x, LLVMValueRef y, Ins *from,
                            int64_t by) {
  LLVMBuilderRef b = lw->b;
  bool narrow = i->flags & (INS_OF_I32 | INS_OF_U32),
       low = narrow || from->flags & i->args[1]->flags & INS_I32;
  LLVMValueRef at = lw_value(lw, from), n = low ? lw_low(lw, y) : y;
  at = low ? lw_low(lw, at) : at;
  LLVMBasicBlockRef near = lw_block(lw, "near"), far = lw_block(lw, "far"),
                    end = lw_block(lw, "stepped");
  LLVMIntPredicate below = i->args[1]->flags & INS_NONNEGATIVE ? LLVMIntULT : LLVMIntSLT;
  l_condbr(b, l_icmp(b, below, at, n), near, far);
  lw_at(lw, far);
  uint32_t known = lw->divisions ? lw->divisions->all.len : 0;
  LLVMValueRef rest = narrow ? divide_narrow(lw, i, x, y) : divided(lw, i, x, y);
  if (lw->divisions) /* what is divided here is not on all paths */
    lw->divisions->all.len = known;
  far = LLVMGetInsertBlock(b);
  l_br(b, end);
  lw_at(lw, near);
  for (int64_t k = by < 0 ? -by : by; k; k--)
    at = step_around(lw, at, n, by > 0);
  at = LLVMTypeOf(at) == LLVMTypeOf(rest) ? at : l_zext(b, at, LLVMTypeOf(rest));
  l_br(b, end);
  lw_at(lw, end);
  rest = either_of(lw, at, near, rest, far);
  return narrow ? lw_extended(lw, i, rest) : rest;
}

void lw_divide_integers(Lower *lw, Ins *i, LLVMValueRef x, LLVMValueRef y) {
  int64_t by;
  Ins *from = stepped_from(lw, i, y, &by);
  lw_set(lw, i, from ? stepped(lw, i, x, y, from, by) : divided(lw, i, x, y));
}
