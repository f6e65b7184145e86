/* Narrow: which 64-bit integers fit 32 bits.
 *
 * A GPU computes with 64-bit integers in two or more instructions each. Python's integers have 64
 * bits, but an index rarely needs them: it counts up to an extent below 2**31. The interval
 * analysis (ir/interval.h) proves that; lowering then computes marked values in 32 bits.
 *
 * In: a strict Fn in order, with dominators. Out: INS_I32 on values that fit int32, INS_U32 on
 * those that fit uint32, wherever they are used; INS_OF_I32 and INS_OF_U32 on operations whose
 * operands do where these read them (behind `if x < n`); INS_NO_WRAP on divisions of these that
 * never read the smallest int32; INS_EXACT on true divisions of such as float64 holds; INS_INDEX on
 * wrapped indices that are only used as indices. The start and step of grid-stride loops are
 * clamped first, which adds a comparison and a selection each in front of the loop. */
#include "codegen/ssa/narrow.h"

#include <assert.h>

#include "ir/build.h"
#include "ir/cfg.h"
#include "ir/interval.h"

#define LARGEST INT64_C(0x7fffffff)

/* --- grid-stride loops ---
 *
 * The counter of a grid-stride loop runs from the thread's number to an extent in steps of the
 * grid's size, neither of which is known to fit 32 bits. But a start beyond the end can be replaced
 * by the end, an end below 0 by 0, and a step beyond 2**31 - 1 by that: the loop runs the same
 * iterations. The counter's last value differs, so this is done only if the counter is not used
 * outside the loop's body. */

static bool is_stride(const Intervals *v, const Ins *phi, Counter *c) {
  if (ty_kind(phi->type) != KIND_INT || ty_bits(phi->type) != 64 || !ir_counter(phi, c) ||
      c->down || c->closed || c->next->op != OP_ADD || c->stop->type != phi->type)
    return false;
  Interval start = ir_interval_at(v, c->start, c->before),
           step = ir_interval_at(v, c->step, c->before);
  return start.lo >= 0 && step.lo >= 1 && ir_interval_at(v, c->stop, c->before).hi <= LARGEST &&
         (start.hi > LARGEST || step.hi >= TY_SMALL) && ir_dominates(c->stop->block, c->before) &&
         (c->step->op == OP_CONST || ir_dominates(c->step->block, c->before));
}

bool cg_narrow_clamps(const Intervals *v, const Ins *test) {
  Counter c;
  const Ins *end = test->block->last;
  bool ends = end->op == OP_CONDBR && end->args[0] == test;
  for (const Ins *phi = test->block->first; ends && phi->op == OP_PHI; phi = phi->next)
    if (is_stride(v, phi, &c))
      return true;
  return false;
}

/* Is operand k of user, a value of the counter, read in the loop's body or by the loop's own
 * control? */
static bool is_inside(const Counter *c, const Ins *phi, const Ins *user, uint32_t k) {
  const Ins *a = user->args[k], *test = phi->block->last->args[0];
  if (a == c->next)
    return user == phi;
  if (a == test)
    return user == phi->block->last;
  return user == test ||
         ir_dominates(c->body, user->op == OP_PHI ? user->block->preds.data[k] : user->block);
}

typedef struct Stride {
  Ins *phi;
  Counter c;
  bool escapes; /* is used outside the loop's body */
  bool guarded; /* it is a condition that bounds the step below, or LLVM does not see that */
  bool below;   /* the stop may be negative */
  bool far;     /* the step may be beyond 2**31 - 1 */
} Stride;

/* a where `a compare b` holds, b elsewhere: the smaller or the larger. */
static Ins *one_of(Cx *cx, Fn *fn, Ins *phi, Ins *at, Op compare, Ins *a, Ins *b) {
  Ins *test = phi->block->last->args[0];
  Ins *less = ir_ins(cx, fn, compare, test->type, phi->loc, (Ins *[]){a, b}, 2);
  Ins *r = ir_ins(cx, fn, OP_SELECT, phi->type, phi->loc, (Ins *[]){less, a, b}, 3);
  ir_insert_before(at, less);
  ir_insert_before(at, r);
  return r;
}

static Ins *number(Cx *cx, Fn *fn, const Ins *phi, Ins *at, int64_t n) {
  Ins *c = ir_const(cx, fn, fz_int(cx, n), phi->type, phi->loc);
  ir_insert_before(at, c);
  return c;
}

static void shorten(Cx *cx, Fn *fn, const Stride *s) {
  Ins *phi = s->phi, *next = (Ins *)s->c.next;
  uint32_t from = phi->args[0] == next, by = next->args[0] == phi;
  assert(phi->nargs == 2 && phi->args[1 - from] == next && next->args[1 - by] == phi);
  Ins *at = s->c.before->last;
  Ins *test = phi->block->last->args[0], *stop = (Ins *)s->c.stop;
  if (s->below) /* no iteration either */
    stop = one_of(cx, fn, phi, at, OP_GT, stop, number(cx, fn, phi, at, 0));
  test->args[test->args[0] == phi] = stop;
  phi->args[from] = one_of(cx, fn, phi, at, OP_LT, phi->args[from], stop);
  if (s->far)
    next->args[by] = one_of(cx, fn, phi, at, OP_LT, next->args[by],
                            number(cx, fn, phi, at, LARGEST));
  if (s->guarded) /* LLVM sees no branch in the step's value */
    next->args[by] = one_of(cx, fn, phi, at, OP_GT, next->args[by], number(cx, fn, phi, at, 1));
}

static bool shorten_strides(Cx *cx, const Intervals *v, Fn *fn) {
  VEC(Stride) all = {0};
  uint32_t *owner = CX_ARRAY(cx, uint32_t, fn->next_id); /* by Ins.id: 1 + index in `all` */
  FOR_BLOCKS (fn, b)
    for (Ins *i = b->first; i && i->op == OP_PHI; i = i->next) {
      Stride s = {.phi = i};
      if (!is_stride(v, i, &s.c))
        continue;
      s.far = ir_interval(v, s.c.step).hi > LARGEST;
      s.guarded = ir_interval(v, s.c.step).lo < 1 || (s.c.step->op == OP_MUL && !s.far);
      s.below = ir_interval_at(v, s.c.stop, s.c.before).lo < 0;
      VEC_PUSH(&cx->arena, &all, s);
      owner[i->id] = owner[s.c.next->id] = owner[b->last->args[0]->id] = all.len;
    }
  if (!all.len)
    return false;
  FOR_BLOCKS (fn, b)
    FOR_INS (b, i)
      for (uint32_t k = 0; k < i->nargs; k++) {
        uint32_t number = owner[i->args[k]->id];
        Stride *s = number ? &all.data[number - 1] : NULL;
        if (s && !is_inside(&s->c, s->phi, i, k))
          s->escapes = true;
      }
  bool changed = false;
  for (uint32_t k = 0; k < all.len; k++)
    if (!all.data[k].escapes) {
      shorten(cx, fn, &all.data[k]);
      changed = true;
    }
  return changed;
}

/* --- indices --- */

/* Marks wrapped indices that only address elements, and so are in range. Bounds of slices are
 * wrapped too, and need not be. Those of local arrays are not marked: passes that make registers of
 * these look for constants in selections. */
static void find_indices(Fn *fn) {
  FOR_BLOCKS (fn, b)
    FOR_INS (b, i)
      i->flags |= i->op == OP_WRAP_INDEX ? INS_INDEX : 0;
  FOR_BLOCKS (fn, b)
    FOR_INS (b, i) {
      bool element = i->op == OP_LOAD || i->op == OP_STORE || i->op == OP_ATOMIC;
      for (uint32_t k = 0; k < i->nargs; k++)
        if (!element || k > i->args[0]->type->ndim || /* not one of its indices */
            i->args[0]->type->space == SPACE_LOCAL)
          i->args[k]->flags &= (uint16_t)~INS_INDEX;
    }
}

static bool is_long(const Ins *i) { return ty_kind(i->type) == KIND_INT && ty_bits(i->type) == 64; }

/* --- windows ---
 *
 * `for x in range(col - 1, col + 2)` runs three times, which LLVM sees if no sum can wrap: 64-bit
 * sums of numbers below 2**31 cannot, but of 32-bit sums it knows that only as long as no pass
 * drops their flags. So the counter of such a loop and its bounds keep 64 bits. It is unrolled, and
 * then they are constants. */

static const Ins *without_constant(const Ins *i) {
  for (;; i = i->args[0])
    if (!(i->op == OP_CAST && is_long(i) && is_long(i->args[0])) &&
        !((i->op == OP_ADD || i->op == OP_SUB) && is_long(i) && i->args[1]->op == OP_CONST))
      return i;
}

static void keep_sum(bool *wide, const Ins *i, const Ins *base) {
  for (; i != base; i = i->args[0])
    wide[i->id] = true;
}

/* By Ins.id: is it of a window? */
static bool *find_windows(Cx *cx, const Fn *fn) {
  bool *wide = CX_ARRAY(cx, bool, fn->next_id);
  Counter c;
  FOR_BLOCKS (fn, b)
    for (const Ins *i = b->first; i && i->op == OP_PHI; i = i->next) {
      if (!is_long(i) || !ir_counter(i, &c))
        continue;
      const Ins *base = without_constant(c.start);
      if (base->op == OP_CONST || base != without_constant(c.stop))
        continue;
      wide[i->id] = wide[c.next->id] = wide[b->last->args[0]->id] = true;
      keep_sum(wide, c.start, base);
      keep_sum(wide, c.stop, base);
    }
  return wide;
}

/* --- the pass --- */

/* Does lowering compute it in 32 bits, if it and what it reads fit these? */
static bool is_computed(const Ins *i) {
  switch ((Op)i->op) {
  case OP_ADD:
  case OP_SUB:
  case OP_MUL:
  case OP_MOD:
  case OP_FLOORDIV:
  case OP_NEG: return is_long(i);
  case OP_LT:
  case OP_LE:
  case OP_EQ:
  case OP_NE:
  case OP_GT:
  case OP_GE: return is_long(i->args[0]) && is_long(i->args[1]);
  default: return false;
  }
}

/* The smallest int32 divided by -1 does not fit. */
static void mark_division(const Intervals *v, Ins *i) {
  bool divides = i->op == OP_FLOORDIV || i->op == OP_MOD;
  if (divides && i->flags & INS_OF_I32) {
    i->flags &= (uint16_t)~INS_NO_WRAP;
    i->flags |= ir_reads_within(v, i, (Interval){-LARGEST, LARGEST}) ? INS_NO_WRAP : 0;
  }
}

/* Python rounds the quotient of two integers once, whatever their size. Where a float64 holds both,
 * division is that. */
static void mark_quotient(const Intervals *v, Ins *i) {
  static const IrWide exact = (IrWide)1 << 53;
  if (i->op == OP_TRUEDIV && is_long(i->args[0]) && is_long(i->args[1]) &&
      ir_reads_within(v, i, (Interval){-exact, exact}))
    i->flags |= INS_EXACT;
}

void cg_narrow(Cx *cx, Fn *fn) {
  static const Interval i32 = {INT32_MIN, INT32_MAX}, u32 = {0, UINT32_MAX};
  assert(fn->typed && fn->entry->rpo == 0 && !fn->entry->idom);
  find_indices(fn);
  Intervals *v = ir_intervals(cx, fn);
  if (shorten_strides(cx, v, fn))
    v = ir_intervals(cx, fn);
  const bool *wide = find_windows(cx, fn);
  FOR_BLOCKS (fn, b)
    FOR_INS (b, i) {
      if (wide[i->id])
        continue;
      if (is_long(i))
        i->flags |= (ir_is_within(v, i, i32) ? INS_I32 : 0) |
                    (ir_is_within(v, i, u32) ? INS_U32 : 0);
      bool any = is_computed(i), is_test = ty_kind(i->type) == KIND_BOOL;
      if (any && (is_test || i->flags & INS_I32) && ir_reads_within(v, i, i32))
        i->flags |= INS_OF_I32;
      if (any && (is_test || i->flags & INS_U32) && ir_reads_within(v, i, u32))
        i->flags |= INS_OF_U32;
      mark_division(v, i);
      mark_quotient(v, i);
    }
}
