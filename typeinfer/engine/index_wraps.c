/* Index wraps: drops WRAP_INDEX where an index cannot be negative.
 *
 * In: a strict Fn in order. Out: the same without needless wraps; INS_NONNEGATIVE on integers that
 * are proved. An index is looked at as the sum that it is of others, each with its interval and
 * with what the branches on the way say of it. */
#include "ir/build.h"
#include "ir/cfg.h"
#include "ir/interval.h"
#include "typeinfer/engine/engine.h"

enum { MAX_DEPTH = 4, MAX_BRANCHES = 64, SHORT_STEP = 1 << 16 };

#define NO_BOUND (-((IrWide)1 << 100))
/* A sum below this that wraps around is less than -2**62, which is no index of any array: with its
 * extent it is negative still. */
#define HIGHEST (((IrWide)1 << 63) + ((IrWide)1 << 62))

/* A widening or renaming says nothing new about the value. */
static const Ins *strip(const Ins *i) {
  while (i->op == OP_CAST && ty_is_integral(i->args[0]->type) &&
         ty_bits(i->type) >= ty_bits(i->args[0]->type) && ty_kind(i->args[0]->type) != KIND_BOOL &&
         (ty_is_signed(i->type) || !ty_is_signed(i->args[0]->type)) &&
         !(ty_bits(i->type) == ty_bits(i->args[0]->type) &&
           ty_is_signed(i->type) != ty_is_signed(i->args[0]->type)))
    i = i->args[0];
  return i;
}

/* Does a sum never wrap around? One that may has all numbers of its type. */
static bool is_exact(const Intervals *v, const Ins *x) {
  IrWide end = (IrWide)1 << (ty_bits(x->type) - 1);
  Interval r = ir_interval(v, x);
  return ty_is_signed(x->type) && r.lo <= r.hi && (r.lo > -end || r.hi < end - 1);
}

/* What x is but for a constant, which is added to `by`. */
static const Ins *base_of(const Intervals *v, const Ins *x, IrWide *by) {
  int64_t n;
  for (x = strip(x); x->op == OP_ADD || x->op == OP_SUB; x = strip(x->args[0])) {
    if (x->args[1]->op != OP_CONST || !fz_get_int(x->args[1]->aux.frozen, &n) || !is_exact(v, x))
      break;
    *by += x->op == OP_ADD ? (IrWide)n : -(IrWide)n;
  }
  return x;
}

/* of - less, or `of` itself (less == NULL). */
typedef struct Difference {
  const Ins *of, *less;
} Difference;

/* Is it select(a < b, a, b), or with > in place of <, of x and another number? */
static bool is_one_of(const Ins *i, Op compare, const Ins *x) {
  const Ins *c = i->op == OP_SELECT ? i->args[0] : NULL;
  while (c && (c->op == OP_TRUTH || (c->op == OP_CAST && ty_kind(c->args[0]->type) == KIND_BOOL)))
    c = c->args[0];
  if (!c || c->op < OP_LT || c->op > OP_GE || !ty_is_integral(c->args[0]->type))
    return false;
  Op op = c->op == OP_LE ? OP_LT : c->op == OP_GE ? OP_GT : (Op)c->op;
  bool second = op != compare;
  const Ins *a = strip(i->args[1]), *b = strip(i->args[2]);
  return (second ? op == ir_swapped(compare) : true) && (a == x || b == x) &&
         a == strip(c->args[second]) && b == strip(c->args[!second]);
}

/* Is a no larger than d.of, or b no less than d.less? */
static bool is_at_most(const Ins *a, const Ins *x) { return a == x || is_one_of(a, OP_LT, x); }
static bool is_at_least(const Ins *b, const Ins *x) { return b == x || is_one_of(b, OP_GT, x); }

/* What `a op b` says about d: it is no less than the result. */
static IrWide bound_by(const Intervals *v, const Ins *a, Op op, const Ins *b, Difference d) {
  if (d.less) {
    IrWide left = 0, right = 0;
    int64_t n;
    a = base_of(v, a, &left);
    if (a->op == OP_SUB && is_exact(v, a) && b->op == OP_CONST && fz_get_int(b->aux.frozen, &n)) {
      right = n; /* x - y op n */
      b = a->args[1];
      a = base_of(v, a->args[0], &left);
    }
    b = base_of(v, b, &right);
    if (!is_at_most(a, d.of) || !is_at_least(b, d.less))
      return NO_BOUND;
    return op == OP_GT ? right - left + 1 : op == OP_GE || op == OP_EQ ? right - left : NO_BOUND;
  }
  if (strip(a) != d.of)
    return NO_BOUND;
  Interval other = ir_interval(v, b);
  bool is_least = other.lo == other.hi && ir_interval(v, d.of).lo == other.lo;
  switch (op) {
  case OP_GT: return other.lo + 1;
  case OP_GE:
  case OP_EQ: return other.lo;
  case OP_NE: return is_least ? other.lo + 1 : NO_BOUND;
  default: return NO_BOUND;
  }
}

/* What `cond` being `holds` says about d: it is no less than the result. */
static IrWide bound_of(const Intervals *v, const Ins *cond, bool holds, Difference d, int depth) {
  if (depth > MAX_DEPTH)
    return NO_BOUND;
  if (cond->op == OP_NOT)
    return bound_of(v, cond->args[0], !holds, d, depth + 1);
  if (cond->op == OP_TRUTH || (cond->op == OP_CAST && ty_kind(cond->args[0]->type) == KIND_BOOL))
    return bound_of(v, cond->args[0], holds, d, depth + 1);
  if (cond->op == (holds ? OP_AND : OP_OR)) {
    IrWide a = bound_of(v, cond->args[0], holds, d, depth + 1),
           b = bound_of(v, cond->args[1], holds, d, depth + 1);
    return a > b ? a : b;
  }
  if (cond->op < OP_LT || cond->op > OP_GE || !ty_is_integral(cond->args[0]->type) ||
      cond->args[0]->type != cond->args[1]->type)
    return NO_BOUND;
  Op op = holds ? (Op)cond->op : ir_inverse(cond->op);
  IrWide a = bound_by(v, cond->args[0], op, cond->args[1], d),
         b = bound_by(v, cond->args[1], ir_swapped(op), cond->args[0], d);
  return a > b ? a : b;
}

/* What the branches in front of block b say about d: it is no less than the result. */
static IrWide bound_at(const Intervals *v, Difference d, const Block *b) {
  IrWide r = NO_BOUND;
  for (int n = 0; b->idom && n < MAX_BRANCHES; n++, b = b->idom) {
    const Block *from = b->idom;
    if (b->preds.len != 1 || from->last->op != OP_CONDBR || from->succ[0] == from->succ[1])
      continue;
    IrWide c = bound_of(v, from->last->args[0], from->succ[0] == b, d, 0);
    r = c > r ? c : r;
  }
  return r;
}

static Interval no_less(Interval r, IrWide least) {
  return (Interval){least > r.lo ? least : r.lo, r.hi};
}

static Interval unwrapped(const Intervals *v, const Ins *x, const Block *b, int depth);

/* A counter that goes upward is no less than its start. Of a start that may have wrapped around,
 * below -2**62 then, steps are short: no thread comes from there to an index of an array. */
static IrWide start_of(const Intervals *v, const Ins *x, int depth) {
  Counter c;
  if (depth > MAX_DEPTH || x->op != OP_PHI || !ir_counter(x, &c) || c.down ||
      c.next->op != OP_ADD || !(c.next->flags & INS_NO_WRAP))
    return NO_BOUND;
  Interval start = unwrapped(v, c.start, c.before, depth + 1), step = ir_interval(v, c.step);
  bool exact = start.hi < (IrWide)1 << 63;
  return step.lo >= 0 && start.hi < HIGHEST && (exact || step.hi <= SHORT_STEP) ? start.lo
                                                                                : NO_BOUND;
}

/* The numbers that x would be if sums of 64 bits did not wrap around. A difference is bounded by
 * what was compared, too: i - k is no less than 0 behind `if k <= i`, nor are the numbers of
 * `range(i - k, n)` there. */
static Interval unwrapped(const Intervals *v, const Ins *x, const Block *b, int depth) {
  x = strip(x);
  Interval r = no_less(ir_interval(v, x), bound_at(v, (Difference){x, NULL}, b));
  r = r.lo < 0 ? no_less(r, start_of(v, x, depth)) : r;
  bool adds = x->op == OP_ADD;
  if ((!adds && x->op != OP_SUB) || depth > MAX_DEPTH || r.lo >= 0 || !ty_is_signed(x->type))
    return r;
  Interval a = unwrapped(v, x->args[0], b, depth + 1), c = unwrapped(v, x->args[1], b, depth + 1);
  Interval s = adds ? (Interval){a.lo + c.lo, a.hi + c.hi} : (Interval){a.lo - c.hi, a.hi - c.lo};
  if (!adds && s.lo < 0) {
    IrWide left = 0, right = 0;
    Difference d = {base_of(v, x->args[0], &left), base_of(v, x->args[1], &right)};
    s = no_less(s, bound_at(v, d, b) + left - right);
  }
  IrWide end = (IrWide)1 << (ty_bits(x->type) - 1);
  return ty_bits(x->type) == 64 || (s.lo >= -end && s.hi < end) ? s : r;
}

static bool is_needless(const Intervals *v, const Ins *wrap) {
  Interval r = unwrapped(v, wrap->args[0], wrap->block, 0);
  return r.lo >= 0 && r.hi < HIGHEST;
}

void ty_drop_wraps(Cx *cx, Fn *fn) {
  ir_dominators(cx, fn);
  const Intervals *v = ir_intervals(cx, fn);
  FOR_BLOCKS (fn, b)
    FOR_INS_SAFE (b, i, next) {
      if (i->op == OP_WRAP_INDEX && is_needless(v, i)) {
        ir_replace(i, i->args[0]);
        ir_remove(i);
      } else if (ty_is_signed(i->type) && ir_interval(v, i).lo >= 0) {
        i->flags |= INS_NONNEGATIVE;
      }
    }
  ir_settle(fn);
  ir_drop_dead(cx, fn);
}
