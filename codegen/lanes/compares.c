/* Lanes: comparisons of linear values. See lanes.h; values.c and control.c call it.
 *
 * A linear value rises (or falls) from lane to lane, so what a comparison with it is in two lanes
 * it is in all lanes between them, provided that it does not wrap around there. That decides checks
 * of indices, by the first and the last lane (or, at the edge of a grid, where some rest, by the
 * first and the last that run), and guards that are assumed to be uniform. With AVX2 a vector of
 * such a comparison is one of bytes. */
#include <assert.h>

#include "codegen/lanes/private.h"
#include "codegen/llvm/match.h"

/* --- the two ends --- */

enum { FORM_DEPTH = 4 }; /* of the search in what makes a number */

/* The first and the last lane that are looked at, as numbers; NULL: lane 0 and the last one. */
typedef struct Two {
  LLVMValueRef first, last;
} Two;

/* A linear value in these two lanes, and whether it does not wrap around between them, as a signed
 * number or an unsigned one. False where these two do not tell. */
typedef struct Ends {
  LLVMValueRef first, last, even; /* even: NULL if it is uniform */
} Ends;

static bool ends_of(Lanes *l, LLVMValueRef o, bool is_signed, Two two, Ends *ends) {
  Shape s = ln_shape(l, o);
  LLVMTypeRef t = LLVMTypeOf(o);
  int64_t rise;
  if (s.kind != SHAPE_STEP || LLVMGetTypeKind(t) != LLVMIntegerTypeKind ||
      !ln_rise(l, t, s.step, &rise))
    return false;
  *ends = (Ends){.first = two.first ? ln_in_lane(l, o, two.first) : ln_scalar(l, o)};
  ends->last = ends->first;
  if (!rise)
    return true;
  LLVMIntPredicate up = is_signed ? LLVMIntSGT : LLVMIntUGT,
                   down = is_signed ? LLVMIntSLT : LLVMIntULT;
  if (two.first) /* which may be the same lane */
    up = is_signed ? LLVMIntSGE : LLVMIntUGE, down = is_signed ? LLVMIntSLE : LLVMIntULE;
  ends->last = two.last ? ln_in_lane(l, o, two.last)
                        : LLVMBuildAdd(l->b, ends->first, ln_number(l, t, rise), "last");
  ends->even = LLVMBuildICmp(l->b, rise > 0 ? up : down, ends->last, ends->first, "even");
  return true;
}

static bool is_signed_order(LLVMIntPredicate p) {
  return p == LLVMIntSGT || p == LLVMIntSGE || p == LLVMIntSLT || p == LLVMIntSLE;
}

/* The comparison in these two lanes. The lanes between lie between these two, provided that *even
 * holds: the values are monotone, without wrapping. False if the two ends cannot decide the
 * comparison. */
static bool compare_ends(Lanes *l, LLVMValueRef icmp, Two two, LLVMValueRef ends[2],
                         LLVMValueRef *even) {
  LLVMIntPredicate p = LLVMGetICmpPredicate(icmp);
  LLVMValueRef sides[2][2];
  *even = NULL;
  for (unsigned k = 0; k < 2; k++) {
    Ends side;
    if (p == LLVMIntEQ || p == LLVMIntNE ||
        !ends_of(l, LLVMGetOperand(icmp, k), is_signed_order(p), two, &side) ||
        (side.even && *even))
      return false;
    sides[0][k] = side.first, sides[1][k] = side.last;
    *even = side.even ? side.even : *even;
  }
  for (unsigned k = 0; k < 2; k++)
    ends[k] = l_icmp(l->b, p, sides[k][0], sides[k][1]);
  return *even != NULL;
}

/* Of lane 0 and 64 bits: is it known by its form? Flags say nothing of a lane that rests. */
static bool never_negative(Lanes *l, LLVMValueRef v, int depth) {
  LaneValue *own = ln_value(l, v);
  bool runs = ln_is_uniform(ln_shape(l, v)) || (own && !ln_may_rest(l, own->block));
  if (LLVMIsAConstantInt(v))
    return LLVMConstIntGetSExtValue(v) >= 0;
  if (LLVMIsAZExtInst(v))
    return runs;
  return depth && runs && (cg_is_op(v, LLVMAdd) || cg_is_op(v, LLVMMul)) && LLVMGetNSW(v) &&
         never_negative(l, LLVMGetOperand(v, 0), depth - 1) &&
         never_negative(l, LLVMGetOperand(v, 1), depth - 1);
}

/* Is it x < y, unsigned in 64 bits, where x rises and y is not negative as a signed number? */
static bool is_of_positive(Lanes *l, LLVMValueRef icmp) {
  LLVMValueRef x = LLVMGetOperand(icmp, 0);
  int64_t step = ln_shape(l, x).step;
  return LLVMGetICmpPredicate(icmp) == LLVMIntULT && LLVMTypeOf(x) == l->cg->t.i64 && step > 0 &&
         step <= INT32_MAX && never_negative(l, LLVMGetOperand(icmp, 1), FORM_DEPTH);
}

static LLVMValueRef agree_in(Lanes *l, LaneValue *v, Two two, bool holds) {
  LLVMValueRef ends[2], even;
  if (!compare_ends(l, v->old, two, ends, &even))
    return NULL;
  if (holds && is_of_positive(l, v->old))
    return l_and(l->b, ends[0], ends[1]); /* from below 2**63 it cannot reach 2**64 */
  for (unsigned k = 0; k < 2; k++) {
    if (!holds)
      ends[k] = l_not(l->b, ends[k]);
    even = l_and(l->b, even, ends[k]);
  }
  return even;
}

LLVMValueRef ln_ends_agree(Lanes *l, LaneValue *v, bool holds) {
  return agree_in(l, v, (Two){0}, holds);
}

static LLVMValueRef are_whole(Lanes *l, LLVMValueRef icmp, Two two) {
  LLVMValueRef x = ln_unwrapped(LLVMGetOperand(icmp, 0)), n = LLVMGetOperand(icmp, 1);
  Ends ends;
  if (LLVMGetICmpPredicate(icmp) != LLVMIntULT || !x || !ln_is_uniform(ln_shape(l, n)) ||
      !ln_is_here(l, x) || !ends_of(l, x, true, two, &ends) || !ends.even)
    return NULL;
  bool rises = ln_shape(l, x).step > 0;
  LLVMValueRef least = rises ? ends.first : ends.last, most = rises ? ends.last : ends.first,
               whole = l_icmp(l->b, LLVMIntSGE, least, LLVMConstNull(LLVMTypeOf(x))),
               below = l_icmp(l->b, LLVMIntSLT, most, ln_scalar(l, n));
  return l_and(l->b, l_and(l->b, whole, below), ends.even);
}

/* Of x < n, unsigned, where x may count from the end: is it in range in the first and the last lane
 * without that? NULL: it is not of that form. */
LLVMValueRef ln_ends_are_whole(Lanes *l, LLVMValueRef icmp) { return are_whole(l, icmp, (Two){0}); }

/* The mask is not empty: blocks where it is are skipped. */
static Two running_ends(Lanes *l) {
  assert(l->mask_now);
  LLVMValueRef bits = ln_bits(l, l->mask_now);
  return (Two){ln_lowest_bit(l, bits), ln_highest_bit(l, bits)};
}

LLVMValueRef ln_running_ends_agree(Lanes *l, LaneValue *v, bool holds) {
  return agree_in(l, v, running_ends(l), holds);
}

LLVMValueRef ln_running_ends_are_whole(Lanes *l, LLVMValueRef icmp) {
  return are_whole(l, icmp, running_ends(l));
}

/* --- comparisons of linear values, as vectors --- */

/* A constant, or an extension of 32 bits: not near an end of the numbers of 64. */
static bool is_small(LLVMValueRef x) {
  if (LLVMIsASExtInst(x) || LLVMIsAZExtInst(x))
    return LLVMGetIntTypeWidth(LLVMTypeOf(LLVMGetOperand(x, 0))) <= 32;
  return LLVMIsAConstantInt(x) &&
         LLVMConstIntGetSExtValue(x) == (int32_t)LLVMConstIntGetSExtValue(x);
}

/* x, linear, in 64 bits: is each lane's number, of those that run, lane 0's and that many steps
 * more, without wrapping around as signed numbers? So are small numbers, and sums that do not wrap
 * where lane 0 runs. Where it rests, its sum is less than that of a lane that runs, which does not
 * wrap; and it is not too small if something small is added to what is not negative. */
static bool is_even(Lanes *l, LLVMValueRef x, int depth) {
  Shape s = ln_shape(l, x);
  LaneValue *v = ln_value(l, x);
  if (ln_is_uniform(s) || is_small(x))
    return true;
  if (!depth || !v || s.kind != SHAPE_STEP || s.step <= 0 || !cg_is_op(x, LLVMAdd) ||
      !LLVMGetNSW(x))
    return false;
  LLVMValueRef of[] = {LLVMGetOperand(x, 0), LLVMGetOperand(x, 1)};
  bool runs = !ln_may_rest(l, v->block);
  for (unsigned k = 0; k < 2 && !runs; k++)
    runs = is_small(of[k]) && never_negative(l, of[1 - k], FORM_DEPTH);
  return runs && is_even(l, of[0], depth - 1) && is_even(l, of[1], depth - 1);
}

bool ln_ends_decide(Lanes *l, LLVMValueRef icmp, bool holds) {
  return holds && is_of_positive(l, icmp) && is_even(l, LLVMGetOperand(icmp, 0), FORM_DEPTH);
}

/* min(n, most), as unsigned numbers */
static LLVMValueRef at_most(Lanes *l, LLVMValueRef n, uint64_t most) {
  LLVMTypeRef t = LLVMTypeOf(n);
  LLVMValueRef args[] = {n, l_int(t, most)}, fn = cg_intrinsic_fn(l->cg, "llvm.umin", &t, 1);
  return l_call(l->b, fn, args, 2);
}

static LLVMValueRef lane_numbers_against(Lanes *l, LLVMIntPredicate p, LLVMValueRef n) {
  return l_icmp(l->b, p, ln_steps_vector(l, l->cg->t.i8, 1),
                ln_splat(l, l_trunc(l->b, n, l->cg->t.i8)));
}

/* The lanes of which the number is less than `limit` minus x, which rises by 1: those in front of
 * the first that is not below it. even: x does not wrap around. Where it may, the limit is a small
 * number: lanes in which x has wrapped are below it, too, and where lane 0 is not, only these. */
static LLVMValueRef lanes_below(Lanes *l, LLVMValueRef x, LLVMValueRef limit, bool or_equal,
                                bool even) {
  LLVMTypeRef t = LLVMTypeOf(x);
  if (!even) {
    LLVMValueRef end = or_equal ? l_add(l->b, limit, l_int(t, 1)) : limit;
    LLVMValueRef less = l_icmp(l->b, LLVMIntSLT, x, end),
                 to = l_select(l->b, less, end, l_int(t, UINT64_C(1) << 63)),
                 in_front = lane_numbers_against(l, LLVMIntSLT,
                                                 at_most(l, l_sub(l->b, to, x), l->width));
    return l_xor(l->b, in_front, ln_splat(l, l_not(l->b, less)));
  }
  LLVMValueRef n = at_most(l, l_sub(l->b, limit, x), l->width - (or_equal ? 1 : 0));
  if (or_equal)
    n = l_add(l->b, n, l_int(t, 1));
  n = l_select(l->b, l_icmp(l->b, or_equal ? LLVMIntSLE : LLVMIntSLT, x, limit), n, l_int(t, 0));
  return lane_numbers_against(l, LLVMIntSLT, n);
}

/* The lane in which x, which rises by 1, is y. */
static LLVMValueRef lane_of(Lanes *l, LLVMValueRef x, LLVMValueRef y) {
  return lane_numbers_against(l, LLVMIntEQ, at_most(l, l_sub(l->b, y, x), l->width));
}

/* AVX2 compares signed numbers, and takes two operations more for others. */
static LLVMIntPredicate predicate_of_lanes(Lanes *l, LLVMValueRef i) {
  LLVMIntPredicate p = LLVMGetICmpPredicate(i);
  if (ln_has_masks(l) || !LLVMGetICmpSameSign(i))
    return p;
  switch (p) {
  case LLVMIntUGT: return LLVMIntSGT;
  case LLVMIntUGE: return LLVMIntSGE;
  case LLVMIntULT: return LLVMIntSLT;
  case LLVMIntULE: return LLVMIntSLE;
  default: return p;
  }
}

/* A comparison of x, which rises by 1 from lane to lane, with a uniform y. */
typedef struct Against {
  LLVMIntPredicate how;
  LLVMValueRef x, y;   /* lane 0's x */
  bool turned;         /* it is y against x */
  bool even, positive; /* of x: it does not wrap around; nor is it negative */
} Against;

static bool is_equality(LLVMIntPredicate p) { return p == LLVMIntEQ || p == LLVMIntNE; }

/* Comparisons of bytes: the lane's number with the first for which it does not hold. */
static LLVMValueRef compare_lane_numbers(Lanes *l, const Against *a) {
  LLVMIntPredicate p = a->how;
  if (is_equality(p)) {
    LLVMValueRef at = lane_of(l, a->x, a->y);
    return p == LLVMIntEQ ? at : l_not(l->b, at);
  }
  bool less = p == LLVMIntSLT || p == LLVMIntSLE || p == LLVMIntULT || p == LLVMIntULE,
       or_equal = p == LLVMIntSLE || p == LLVMIntSGE || p == LLVMIntULE || p == LLVMIntUGE,
       negated = less == a->turned; /* x > y: not x <= y */
  LLVMValueRef below = lanes_below(l, a->x, a->y, or_equal != negated, a->even);
  if (!is_signed_order(p) && !a->positive) /* and not negative */
    below = l_and(l->b, below,
                  l_not(l->b, lanes_below(l, a->x, l_int(l->cg->t.i64, 0), false, a->even)));
  return negated ? l_not(l->b, below) : below;
}

static LLVMValueRef compare_vectors(Lanes *l, LLVMValueRef i) {
  return l_icmp(l->b, predicate_of_lanes(l, i), ln_vector(l, LLVMGetOperand(i, 0)),
                ln_vector(l, LLVMGetOperand(i, 1)));
}

/* As numbers of 64 bits only where x is so large that it may wrap around. */
static LLVMValueRef compare_where_even(Lanes *l, LLVMValueRef i, Against *a) {
  LLVMTypeRef i64 = l->cg->t.i64;
  LLVMBasicBlockRef from[] = {ln_new_block(l, "even"), ln_new_block(l, "uneven")},
                    done = ln_new_block(l, "");
  LLVMValueRef most = l_int(i64, (uint64_t)INT64_MAX - l->width),
               end = l_condbr(l->b, l_icmp(l->b, LLVMIntSLE, a->x, most), from[0], from[1]), got[2];
  cg_branch_weights(l->cg, end, CG_OFTEN, 1);
  a->even = true;
  for (unsigned k = 0; k < 2; k++) {
    LLVMPositionBuilderAtEnd(l->b, from[k]);
    got[k] = k ? compare_vectors(l, i) : compare_lane_numbers(l, a);
    l_br(l->b, done);
  }
  LLVMPositionBuilderAtEnd(l->b, done);
  LLVMValueRef phi = l_phi(l->b, l->mask_type);
  LLVMAddIncoming(phi, got, from, 2);
  return phi;
}

/* As numbers of 64 bits these would be four comparisons with AVX2, whose results must be packed.
 * NULL if it has not that form. */
static LLVMValueRef compare_numbers(Lanes *l, LLVMValueRef i) {
  enum { AVX2 = 8 };
  Against a = {.how = LLVMGetICmpPredicate(i)};
  LLVMValueRef x = LLVMGetOperand(i, 0), y = LLVMGetOperand(i, 1);
  if (cg_lanes_part(l->cg) != AVX2 || LLVMTypeOf(x) != l->cg->t.i64)
    return NULL;
  a.turned = ln_is_uniform(ln_shape(l, x));
  if (a.turned)
    x = y, y = LLVMGetOperand(i, 0);
  Shape s = ln_shape(l, x);
  a.even = is_even(l, x, FORM_DEPTH), a.positive = never_negative(l, x, FORM_DEPTH);
  bool equal = is_equality(a.how), asks_sign = cg_is_number(y, 0); /* which is a bit of x */
  if (s.kind != SHAPE_STEP || s.step != 1 || !ln_is_uniform(ln_shape(l, y)) ||
      (!equal && !a.even && (asks_sign || (ln_value(l, i)->late && !is_small(y)))))
    return NULL;
  if (!equal && !is_signed_order(a.how) && !never_negative(l, y, FORM_DEPTH))
    return NULL;
  a.x = ln_scalar(l, x), a.y = ln_scalar(l, y);
  return equal || a.even || is_small(y) ? compare_lane_numbers(l, &a)
                                        : compare_where_even(l, i, &a);
}

LLVMValueRef ln_compare(Lanes *l, LLVMValueRef i) {
  LLVMValueRef bytes = compare_numbers(l, i);
  return bytes ? bytes : compare_vectors(l, i);
}

/* --- comparisons that are assumed to be uniform --- */

/* (In)equality is uniform if no lane is equal. */
static void write_unequal(Lanes *l, LaneValue *v) {
  LLVMValueRef x = LLVMGetOperand(v->old, 0), y = LLVMGetOperand(v->old, 1);
  if (!ln_shape(l, x).step) {
    LLVMValueRef t = x;
    x = y, y = t;
  }
  int64_t rise;
  CX_ASSERT(l->cg->cx, ln_rise(l, LLVMTypeOf(x), ln_shape(l, x).step, &rise));
  LLVMValueRef first = ln_scalar(l, x), other = ln_scalar(l, y);
  LLVMValueRef away = rise > 0 ? l_sub(l->b, other, first) : l_sub(l->b, first, other);
  LLVMValueRef range = ln_number(l, LLVMTypeOf(first), rise > 0 ? rise : -rise);
  ln_run_alone_unless(l, LLVMBuildICmp(l->b, LLVMIntUGT, away, range, "none"));
  v->now = l_int(l->cg->t.i1, LLVMGetICmpPredicate(v->old) == LLVMIntNE);
}

bool ln_keeps_order(Lanes *l, LLVMValueRef i) {
  return LLVMIsAICmpInst(i) && ln_shape(l, LLVMGetOperand(i, 0)).step &&
         ln_shape(l, LLVMGetOperand(i, 1)).step;
}

/* Values of the same step that do not wrap around compare as they do in lane 0. */
static void write_in_order(Lanes *l, LaneValue *v) {
  LLVMIntPredicate p = LLVMGetICmpPredicate(v->old);
  Ends x, y;
  bool tells = ends_of(l, LLVMGetOperand(v->old, 0), is_signed_order(p), (Two){0}, &x) &&
               ends_of(l, LLVMGetOperand(v->old, 1), is_signed_order(p), (Two){0}, &y);
  CX_ASSERT(l->cg->cx, tells && x.even && y.even);
  ln_run_alone_unless(l, l_and(l->b, x.even, y.even));
  v->now = l_icmp(l->b, p, x.first, y.first);
}

/* A minimum or maximum that is its linear operand in all lanes, since it is so in the first and the
 * last one. */
static void write_followed(Lanes *l, LaneValue *v) {
  LLVMIntPredicate p = (LLVMIntPredicate)ln_extreme(v->old);
  unsigned linear = ln_shape(l, LLVMGetOperand(v->old, 0)).step ? 0 : 1;
  LLVMValueRef bound = ln_scalar(l, LLVMGetOperand(v->old, 1 - linear));
  Ends x;
  bool tells = ends_of(l, LLVMGetOperand(v->old, linear), is_signed_order(p), (Two){0}, &x);
  CX_ASSERT(l->cg->cx, tells && x.even);
  LLVMValueRef first = l_icmp(l->b, p, x.first, bound), last = l_icmp(l->b, p, x.last, bound);
  ln_run_alone_unless(l, l_and(l->b, x.even, l_and(l->b, first, last)));
  v->now = x.first;
}

void ln_write_agreed(Lanes *l, LaneValue *v) {
  LLVMValueRef ends[2], even;
  assert(v->agreed && l->how.alone && v->shape.kind == SHAPE_STEP);
  if (ln_extreme(v->old)) {
    write_followed(l, v);
    return;
  }
  if (ln_keeps_order(l, v->old)) {
    write_in_order(l, v);
    return;
  }
  LLVMIntPredicate p = LLVMGetICmpPredicate(v->old);
  if (p == LLVMIntEQ || p == LLVMIntNE) {
    write_unequal(l, v);
    return;
  }
  bool tells = compare_ends(l, v->old, (Two){0}, ends, &even);
  CX_ASSERT(l->cg->cx, tells);
  LLVMValueRef alike = l_icmp(l->b, LLVMIntEQ, ends[0], ends[1]);
  ln_run_alone_unless(l, l_and(l->b, alike, even));
  v->now = ends[0];
}
