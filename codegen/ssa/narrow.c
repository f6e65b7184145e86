/* Narrow: which 64-bit integers fit 32 bits, so that lowering computes them there: a GPU's 64-bit integer operations are two or more.
 *
 * Python's integers are 64 bits wide, but an index rarely is: it counts up to an extent below 2**31. Intervals start empty and grow until
 * nothing changes; a phi that keeps growing is unbounded, unless it counts (phi (start, phi + step) or phi (start, phi * factor), and its loop
 * goes on while it is below stop). In: a strict Fn in order. Out: INS_I32 on values that fit int32, INS_U32 on those that fit uint32, at every point where they are. */
#include "codegen/ssa/narrow.h"

#include "ir/registers.h"

#define LARGEST INT64_C(0x7fffffff)

typedef struct Interval {
  int64_t lo, hi; /* lo > hi: nothing came here yet */
} Interval;

static const Interval everything = {INT64_MIN, INT64_MAX}, nothing = {INT64_MAX, INT64_MIN};

enum { GROW_LIMIT = 4 };

typedef struct Narrow {
  Cx *cx;
  Interval *of; /* by Ins id */
  uint8_t *grown;
} Narrow;

static Interval of(const Narrow *n, const Ins *i) { return n->of[i->id]; }
static bool is_empty(Interval v) { return v.lo > v.hi; }
static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

static Interval both(Interval a, Interval b) {
  return (Interval){smaller(a.lo, b.lo), larger(a.hi, b.hi)};
}

static bool is_within(Interval v, Interval room) { return v.lo >= room.lo && v.hi <= room.hi; }

/* What the type can hold. uint64's upper half is not described: it is everything. */
static Interval of_type(const Type *t) {
  unsigned bits = ty_bits(t);
  switch (ty_kind(t)) {
  case KIND_BOOL: return (Interval){0, 1};
  case KIND_UINT: return bits < 64 ? (Interval){0, (INT64_C(1) << bits) - 1} : everything;
  case KIND_INT:
    return bits < 64 ? (Interval){-(INT64_C(1) << (bits - 1)), (INT64_C(1) << (bits - 1)) - 1}
                     : everything;
  default: return everything;
  }
}

/* --- operations --- */

static Interval sum(Interval a, Interval b) {
  Interval r;
  bool over = __builtin_add_overflow(a.lo, b.lo, &r.lo) | __builtin_add_overflow(a.hi, b.hi, &r.hi);
  return over ? everything : r;
}

static Interval negated(Interval a) {
  return a.lo == INT64_MIN ? everything : (Interval){-a.hi, -a.lo};
}

static Interval product(Interval a, Interval b) {
  int64_t p[4];
  bool over = __builtin_mul_overflow(a.lo, b.lo, &p[0]) |
              __builtin_mul_overflow(a.lo, b.hi, &p[1]) |
              __builtin_mul_overflow(a.hi, b.lo, &p[2]) | __builtin_mul_overflow(a.hi, b.hi, &p[3]);
  if (over)
    return everything;
  Interval r = {p[0], p[0]};
  for (int k = 1; k < 4; k++)
    r = both(r, (Interval){p[k], p[k]});
  return r;
}

static Interval constant(const Ins *i) {
  const Frozen *f = i->aux.frozen;
  if (f->kind == FZ_BOOL)
    return (Interval){0, 1};
  bool known = f->kind == FZ_INT && !f->wide;
  return known ? (Interval){f->i, f->i} : everything;
}

static Interval special_register(const Ins *i) {
  Interval r;
  return ir_register_bounds(i->aux.intrinsic, &r.lo, &r.hi) ? r : of_type(i->type);
}

/* min and max are written as select(a < b, …). */
static Interval selected(const Narrow *n, const Ins *i) {
  const Ins *c = i->args[0], *yes = i->args[1], *no = i->args[2];
  Interval a = of(n, yes), b = of(n, no);
  bool same = c->op == OP_LT && c->args[0] == yes && c->args[1] == no;
  return same ? (Interval){smaller(a.lo, b.lo), smaller(a.hi, b.hi)} : both(a, b);
}

static Interval remainder_of(Interval a, Interval b) { /* has the divisor's sign */
  if (b.lo < 1)
    return everything;
  return (Interval){0, a.lo >= 0 ? smaller(a.hi, b.hi - 1) : b.hi - 1};
}

/* The bits that numbers up to this one have. */
static int64_t all_bits(int64_t most) {
  return most <= 0 ? 0 : (int64_t)(UINT64_MAX >> __builtin_clzll((uint64_t)most));
}

/* --- counters --- */

typedef struct Counter {
  const Ins *start, *next, *step,
      *stop;         /* goes on while it is < stop, or > stop if it counts down */
  bool down, closed; /* closed: while it is <= or >= */
  const Block *body; /* where it goes on: everything that this block dominates */
} Counter;

static bool is_step_of(const Ins *i, const Ins *phi) {
  bool first = i->nargs == 2 && i->args[0] == phi, second = i->nargs == 2 && i->args[1] == phi;
  if (i->op == OP_ADD || i->op == OP_MUL)
    return first != second;
  return (i->op == OP_SUB || i->op == OP_LSHIFT) && first && !second;
}

static bool find_counter(const Ins *phi, Counter *c) {
  const Block *h = phi->block;
  const Ins *test = h->last->op == OP_CONDBR ? h->last->args[0] : NULL;
  if (phi->nargs != 2 || !test || test->nargs != 2 || test->args[0] != phi)
    return false;
  bool up = test->op == OP_LT || test->op == OP_LE;
  if (!up && test->op != OP_GT && test->op != OP_GE)
    return false;
  int back = is_step_of(phi->args[1], phi);
  if (!back && !is_step_of(phi->args[0], phi))
    return false;
  *c = (Counter){.start = phi->args[!back],
                 .next = phi->args[back],
                 .stop = test->args[1],
                 .down = !up,
                 .closed = test->op == OP_LE || test->op == OP_GE,
                 .body = h->succ[0]};
  c->step = c->next->args[c->next->args[0] == phi];
  return h->succ[0] != h->succ[1] && c->body->preds.len == 1 &&
         ir_dominates(c->body, c->next->block);
}

static Interval shifted(Interval a, Interval count) {
  if (count.lo != count.hi || count.lo < 0 || count.lo > 62)
    return everything;
  int64_t factor = INT64_C(1) << count.lo;
  return product(a, (Interval){factor, factor});
}

/* What the loop makes of `last`, and whether that is on the way to its end. */
static Interval stepped(const Counter *c, Interval last, Interval step, bool *nearer) {
  bool adds = c->next->op == OP_ADD || c->next->op == OP_SUB;
  if (!adds) {
    *nearer = !c->down && last.lo >= 0 && step.lo >= (c->next->op == OP_MUL);
    return c->next->op == OP_MUL ? product(last, step) : shifted(last, step);
  }
  Interval by = c->next->op == OP_ADD ? step : negated(step);
  *nearer = c->down ? by.hi <= 0 : by.lo >= 0;
  return sum(last, by);
}

/* The counter that ends the loop counts too: it is at most a step beyond the last one below stop. */
static Interval counted(const Narrow *n, const Counter *c) {
  Interval start = of(n, c->start), step = of(n, c->step), stop = of(n, c->stop);
  if (is_empty(start) || is_empty(step) || is_empty(stop))
    return start;
  Interval last = c->closed ? stop : sum(stop, c->down ? (Interval){1, 1} : (Interval){-1, -1});
  /* the loop is entered with no less than start */
  if (c->next->op == OP_MUL || c->next->op == OP_LSHIFT)
    last = (Interval){start.lo, larger(start.lo, last.hi)};
  bool nearer;
  Interval end = stepped(c, last, step, &nearer);
  if (is_within(everything, end) || !nearer)
    return everything;
  return c->down ? (Interval){smaller(start.lo, end.lo), start.hi}
                 : (Interval){start.lo, larger(start.hi, end.hi)};
}

static Interval merged(const Narrow *n, const Ins *phi) {
  Counter c;
  Interval r = nothing;
  if (find_counter(phi, &c))
    return counted(n, &c);
  for (uint32_t k = 0; k < phi->nargs; k++)
    if (phi->args[k] != phi && phi->args[k]->op != OP_UNSET)
      r = both(r, of(n, phi->args[k]));
  return r;
}

/* --- parts ---
 *
 * t & x, t % x, t // x and t >> x are at most t where t is not negative, so what is taken from t, or from a multiple, leaves no less than 0. */

static bool is_part_of(const Narrow *n, const Ins *part, const Ins *whole) {
  switch ((Op)part->op) {
  case OP_AND: return part->args[0] == whole || part->args[1] == whole;
  case OP_MOD:
  case OP_FLOORDIV: return part->args[0] == whole && of(n, part->args[1]).lo >= 1;
  case OP_RSHIFT: return part->args[0] == whole;
  default: return false;
  }
}

/* Is i `whole`, or that times 1 or more? */
static bool is_multiple(const Narrow *n, const Ins *i, const Ins *whole) {
  if (i == whole)
    return true;
  if (i->op == OP_ADD)
    return i->args[0] == whole && i->args[1] == whole;
  if (i->op == OP_LSHIFT)
    return i->args[0] == whole;
  return i->op == OP_MUL && ((i->args[0] == whole && of(n, i->args[1]).lo >= 1) ||
                             (i->args[1] == whole && of(n, i->args[0]).lo >= 1));
}

static bool leaves_positive(const Narrow *n, const Ins *all, const Ins *part) {
  for (uint32_t k = 0; k < part->nargs && k < 2; k++) {
    const Ins *whole = part->args[k];
    if (of(n, whole).lo >= 0 && is_part_of(n, part, whole) && is_multiple(n, all, whole))
      return of(n, all).lo >= 0; /* a multiple may have wrapped around */
  }
  return false;
}

static Interval difference(const Narrow *n, const Ins *i) {
  Interval a = of(n, i->args[0]), b = of(n, i->args[1]);
  if (is_empty(a) || is_empty(b))
    return nothing;
  Interval r = sum(a, negated(b));
  if (r.lo < 0 && leaves_positive(n, i->args[0], i->args[1]))
    return (Interval){0, a.hi};
  return r;
}

/* --- intervals --- */

static Interval compute(const Narrow *n, const Ins *i) {
  Interval a = i->nargs ? of(n, i->args[0]) : nothing,
           b = i->nargs > 1 ? of(n, i->args[1]) : nothing;
  Interval room = of_type(i->type);
  switch ((Op)i->op) {
  case OP_CONST: return constant(i);
  case OP_EXTENT: return (Interval){0, i->args[0]->type->wide ? INT64_C(1) << 48 : LARGEST};
  case OP_INTRINSIC: return i->nargs ? room : special_register(i);
  case OP_PHI: return merged(n, i);
  case OP_SELECT: return selected(n, i);
  case OP_CAST: return ty_is_integral(i->args[0]->type) ? a : room;
  case OP_ADD: return is_empty(a) || is_empty(b) ? nothing : sum(a, b);
  case OP_SUB: return difference(n, i);
  case OP_MUL: return is_empty(a) || is_empty(b) ? nothing : product(a, b);
  case OP_NEG: return is_empty(a) ? nothing : negated(a);
  case OP_MOD: return is_empty(a) || is_empty(b) ? nothing : remainder_of(a, b);
  case OP_LSHIFT: return is_empty(a) || is_empty(b) ? nothing : shifted(a, b);
  case OP_FLOORDIV: return a.lo >= 0 && b.lo >= 1 ? (Interval){0, a.hi} : room;
  case OP_RSHIFT: return a.lo >= 0 ? (Interval){0, a.hi} : room;
  case OP_AND:
    return a.lo >= 0 || b.lo >= 0 ? (Interval){0, a.lo < 0   ? b.hi
                                                  : b.lo < 0 ? a.hi
                                                             : smaller(a.hi, b.hi)}
                                  : room;
  case OP_OR:
  case OP_XOR: return a.lo >= 0 && b.lo >= 0 ? (Interval){0, all_bits(larger(a.hi, b.hi))} : room;
  case OP_CHECK_INDEX: return (Interval){0, is_empty(b) ? LARGEST : b.hi - 1};
  case OP_WRAP_INDEX: return a.lo >= 0 ? a : room;
  default: return room;
  }
}

/* Arithmetic beyond the type's room wraps around, and may be anything in it. uint64 holds what an interval does not. */
static Interval eval(const Narrow *n, const Ins *i) {
  Interval room = of_type(i->type), v = compute(n, i);
  if (ty_kind(i->type) == KIND_UINT && ty_bits(i->type) == 64)
    return everything;
  return is_empty(v) || is_within(v, room) ? v : room;
}

static bool sweep(Narrow *n, const Fn *fn) {
  bool changed = false;
  FOR_BLOCKS (fn, b)
    FOR_INS (b, i) {
      if (!ty_is_integral(i->type) || is_within(everything, of(n, i)))
        continue;
      Interval old = of(n, i), now = both(old, eval(n, i));
      if (now.lo == old.lo && now.hi == old.hi)
        continue;
      if (i->op == OP_PHI && ++n->grown[i->id] > GROW_LIMIT)
        now = of_type(i->type);
      n->of[i->id] = now;
      changed = true;
    }
  return changed;
}

static void find_intervals(Narrow *n, const Fn *fn) {
  n->of = CX_ARRAY(n->cx, Interval, fn->next_id);
  n->grown = CX_ARRAY(n->cx, uint8_t, fn->next_id);
  for (uint32_t k = 0; k < fn->next_id; k++)
    n->of[k] = nothing;
  while (sweep(n, fn))
    ;
}

/* --- strides ---
 *
 * A grid's stride goes from a thread's number to an extent in steps of the grid's size, both of more than 32 bits for all that is known. A
 * start beyond the end is as good as the end, and so is a step of 2**31. Only where nothing but the loop's body sees the counter. */

static bool is_stride(const Narrow *n, const Ins *phi, Counter *c) {
  if (ty_kind(phi->type) != KIND_INT || ty_bits(phi->type) != 64 || !find_counter(phi, c) ||
      c->down || c->closed || c->next->op != OP_ADD)
    return false;
  Interval start = of(n, c->start), step = of(n, c->step), stop = of(n, c->stop);
  const Block *before = phi->block->preds.data[phi->args[0] != c->start];
  return start.lo >= 0 && step.lo >= 1 && stop.lo >= 0 && stop.hi <= LARGEST &&
         (start.hi > LARGEST || step.hi > LARGEST) && ir_dominates(c->stop->block, before) &&
         ir_dominates(c->step->block, before);
}

/* Is operand k of user read where only the body of the loop is, or by the loop itself? */
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
  bool seen; /* outside */
} Stride;

static Ins *smaller_of(Cx *cx, Fn *fn, Ins *phi, Ins *at, Ins *a, Ins *b) {
  Ins *test = phi->block->last->args[0];
  Ins *less = ir_ins(cx, fn, OP_LT, test->type, phi->loc, (Ins *[]){a, b}, 2);
  Ins *r = ir_ins(cx, fn, OP_SELECT, phi->type, phi->loc, (Ins *[]){less, a, b}, 3);
  ir_insert_before(at, less);
  ir_insert_before(at, r);
  return r;
}

static void shorten(Cx *cx, Fn *fn, const Stride *s) {
  Ins *phi = s->phi, *next = (Ins *)s->c.next;
  uint32_t from = phi->args[0] != s->c.start, by = next->args[0] == phi;
  Ins *at = phi->block->preds.data[from]->last;
  Ins *most = ir_const(cx, fn, fz_int(cx, LARGEST), phi->type, phi->loc);
  ir_insert_before(at, most);
  phi->args[from] = smaller_of(cx, fn, phi, at, phi->args[from], (Ins *)s->c.stop);
  next->args[by] = smaller_of(cx, fn, phi, at, next->args[by], most);
}

static bool shorten_strides(Narrow *n, Fn *fn) {
  VEC(Stride) all = {0};
  uint32_t *owner = CX_ARRAY(n->cx, uint32_t, fn->next_id); /* number in all, from 1 */
  FOR_BLOCKS (fn, b)
    for (Ins *i = b->first; i && i->op == OP_PHI; i = i->next) {
      Stride s = {.phi = i};
      if (!is_stride(n, i, &s.c))
        continue;
      VEC_PUSH(&n->cx->arena, &all, s);
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
          s->seen = true;
      }
  bool changed = false;
  for (uint32_t k = 0; k < all.len; k++)
    if (!all.data[k].seen) {
      shorten(n->cx, fn, &all.data[k]);
      changed = true;
    }
  return changed;
}

/* --- indices --- */

/* Bounds of slices are wrapped too, and may lie anywhere. */
static void find_indices(Fn *fn) {
  FOR_BLOCKS (fn, b)
    FOR_INS (b, i)
      i->flags |= i->op == OP_WRAP_INDEX ? INS_INDEX : 0;
  FOR_BLOCKS (fn, b)
    FOR_INS (b, i) {
      bool element = i->op == OP_LOAD || i->op == OP_STORE || i->op == OP_ATOMIC;
      for (uint32_t k = 0; k < i->nargs; k++)
        if (!element || k > i->args[0]->type->ndim) /* not one of its indices */
          i->args[k]->flags &= (uint16_t)~INS_INDEX;
    }
}

/* --- the pass --- */

void cg_narrow(Cg *cg, Fn *fn) {
  static const Interval i32 = {INT32_MIN, INT32_MAX}, u32 = {0, UINT32_MAX};
  Narrow n = {.cx = cg->cx};
  find_indices(fn);
  find_intervals(&n, fn);
  if (shorten_strides(&n, fn))
    find_intervals(&n, fn);
  FOR_BLOCKS (fn, b)
    FOR_INS (b, i) {
      if (ty_kind(i->type) != KIND_INT || ty_bits(i->type) != 64 || is_empty(of(&n, i)))
        continue;
      i->flags |= (is_within(of(&n, i), i32) ? INS_I32 : 0) |
                  (is_within(of(&n, i), u32) ? INS_U32 : 0);
    }
}
