/* Drift versions: while loops over numbers that move by small steps, of which nothing says that
 * they or their products fit 32 bits, written twice.
 *
 *   while infected > 0:
 *     infections = beta * susceptible * infected
 *     …
 *     if … < infections:
 *       susceptible, infected = susceptible - 1, infected + 1
 *     else:
 *       infected -= 1
 *
 * No range bounds such numbers, and no test in front can: they drift. But in nearly all iterations
 * they are small, which a test in each iteration asks, in two comparisons where the products take
 * three instructions each:
 *
 *   if 0 <= beta < 2**6:
 *     while infected > 0 and 0 <= susceptible < 2**12 and infected < 2**12:
 *       …                       # infections in 32 bits
 *   while infected > 0: …       # rolled: from where the first version has stopped
 *
 * The second loop follows the first one always, and goes on from its variables. So it does not
 * matter why the first has stopped; what is read behind the loop is what the second one leaves, and
 * the condition is asked once more, which is why all in front of it must have no effects.
 *
 * How small the numbers must be follows from the products: with two of them in one, 12 bits each,
 * which leaves 6 for what the loop does not change. As in short_versions.c, the intervals, computed
 * once more as if that were so, say whether it pays: at least two comparisons, divisions or
 * conversions to float must fit then that do not fit now.
 *
 * In: a strict Fn with a single back edge a loop, and dominators. Out: the same. */
#include "codegen/ssa/range_private.h"
#include "codegen/ssa/range_versions.h"
#include "ir/cfg.h"

enum {
  MAX_SIZE = 100,   /* operations of a loop that is written twice, and of what it calls */
  MAX_DEPTH = 6,    /* of products and steps */
  MAX_DRIFTS = 4,   /* in a loop */
  MAX_BOUNDS = 4,   /* in a loop */
  MAX_LOOPS = 16,   /* of a function */
  MAX_TRIES = 8,    /* of a function, whose intervals are computed for each */
  LEAST = 2,        /* operations that must fit then, and do not fit now */
  ALONE = 16,       /* bits of numbers that are in no product with another one */
  TOGETHER = 24,    /* bits of the numbers of a product */
  ALL = 30,         /* bits of a product: the sum of two fits 32 */
  MOST_STEP = 1024, /* by which a number moves in an iteration */
};

typedef struct Bound {
  Ins *ins; /* what the loop does not change */
  unsigned bits;
} Bound;

typedef struct Drift {
  Range range;
  Ins *of[MAX_DRIFTS];    /* phis of the header */
  bool read[MAX_DRIFTS];  /* is it in a product? */
  bool signs[MAX_DRIFTS]; /* may it be negative where the loop goes on? */
  unsigned n, bits;
  Bound bounds[MAX_BOUNDS];
  unsigned nbounds;
} Drift;

typedef struct Product {
  unsigned drifts, constant_bits, n;
  Ins *invariant[MAX_BOUNDS];
} Product;

static bool is_inside(const Range *r, const Ins *i) {
  return i->block && ssa_in_loop(&r->loop, i->block);
}

/* --- the form of the loop --- */

/* Its condition is computed once more than there are iterations, and once between the loops. */
static bool has_pure_header(const Block *header) {
  FOR_INS (header, i) {
    Effect e = ir_op_info[i->op].effect;
    if ((e != EFFECT_PURE && e != EFFECT_PHI && e != EFFECT_TERM) || i->op == OP_INTRINSIC)
      return false;
  }
  return true;
}

static bool read_form(Range *r, Block *header, Block *latch) {
  return ssa_small_loop(&r->loop, header, latch) && ssa_read_header(r, header) &&
         header->succ[0]->preds.len == 1 && has_pure_header(header) &&
         ssa_is_short(&r->loop, MAX_SIZE);
}

/* --- which numbers --- */

static bool fits(const Range *r, const Ins *i) {
  return ir_is_within(ssa_intervals_of(r->of), i, (Interval){INT32_MIN, INT32_MAX});
}

/* The variables of the loop that move by small steps. */
static void find_drifts(Drift *d) {
  const Range *r = &d->range;
  for (Ins *phi = r->loop.blocks[0]->first; phi->op == OP_PHI && d->n < MAX_DRIFTS;
       phi = phi->next) {
    Interval by;
    if (ssa_is_int64(phi->type) &&
        ssa_moved(r, phi, ssa_from_edge(phi, r->latch), &by, MAX_DEPTH) && (by.lo || by.hi) &&
        by.lo >= -MOST_STEP && by.hi <= MOST_STEP)
      d->of[d->n++] = phi;
  }
}

static unsigned drift_of(const Drift *d, const Ins *i) {
  Interval by;
  unsigned k = 0;
  while (k < d->n && i != d->of[k] &&
         !(is_inside(&d->range, i) && ssa_moved(&d->range, d->of[k], i, &by, MAX_DEPTH)))
    k++;
  return k;
}

/* Does the loop not change it? Products of such numbers can be computed in front. */
static bool is_invariant(const Range *r, const Ins *i, unsigned depth) {
  if (!is_inside(r, i))
    return true;
  return i->op == OP_MUL && depth && is_invariant(r, i->args[0], depth - 1) &&
         is_invariant(r, i->args[1], depth - 1);
}

/* Is it a product of numbers that drift and of what does not change? */
static bool read_product(Drift *d, Product *p, Ins *i, unsigned depth) {
  int64_t n;
  i = ssa_uncast(i);
  unsigned k = drift_of(d, i);
  if (!ssa_is_int64(i->type) || !depth)
    return false;
  if (k < d->n) {
    p->drifts++;
    return true;
  }
  if (i->op == OP_CONST) {
    if (!fz_get_int(i->aux.frozen, &n) || n < 0 || n >> ALL)
      return false;
    for (; n; n >>= 1)
      p->constant_bits++;
    return true;
  }
  if (is_invariant(&d->range, i, MAX_DEPTH)) {
    bool room = p->n < MAX_BOUNDS;
    if (room)
      p->invariant[p->n++] = i;
    return room;
  }
  return i->op == OP_MUL && read_product(d, p, i->args[0], depth - 1) &&
         read_product(d, p, i->args[1], depth - 1);
}

static void mark_read(Drift *d, Ins *i) {
  i = ssa_uncast(i);
  unsigned k = drift_of(d, i);
  if (k < d->n)
    d->read[k] = true;
  else if (i->op == OP_MUL && is_inside(&d->range, i))
    for (unsigned a = 0; a < 2; a++)
      mark_read(d, i->args[a]);
}

static bool add_bound(Drift *d, Ins *i, unsigned bits) {
  for (unsigned k = 0; k < d->nbounds; k++)
    if (d->bounds[k].ins == i) {
      d->bounds[k].bits = bits < d->bounds[k].bits ? bits : d->bounds[k].bits;
      return true;
    }
  bool room = d->nbounds < MAX_BOUNDS;
  if (room)
    d->bounds[d->nbounds++] = (Bound){i, bits};
  return room;
}

/* Which of them are in products, and how many at most in one, which decides how small they must
 * be. False: all have bounds. */
static bool find_products(Drift *d) {
  const Range *r = &d->range;
  unsigned most = 0, n = 0;
  bool far = false;
  for (unsigned k = 1; k < r->loop.n; k++)
    FOR_INS (r->loop.blocks[k], i) {
      Product p = {0};
      if (i->op != OP_MUL || !read_product(d, &p, i, MAX_DEPTH) || !p.drifts)
        continue;
      mark_read(d, i);
      most = p.drifts > most ? p.drifts : most;
    }
  d->bits = most > 1 ? TOGETHER / most : ALONE;
  for (unsigned k = 0; k < d->n; k++)
    if (d->read[k]) {
      far |= !fits(r, d->of[k]);
      d->of[n++] = d->of[k];
    }
  d->n = n;
  return far;
}

/* How small what they are multiplied by must be. */
static bool find_bounds(Drift *d) {
  const Range *r = &d->range;
  for (unsigned k = 1; k < r->loop.n; k++)
    FOR_INS (r->loop.blocks[k], i) {
      Product p = {0};
      if (i->op != OP_MUL || !read_product(d, &p, i, MAX_DEPTH) || !p.drifts)
        continue;
      unsigned taken = p.drifts * d->bits + p.constant_bits;
      for (unsigned n = 0; n < p.n; n++)
        if (taken + p.n > ALL || !add_bound(d, p.invariant[n], (ALL - taken) / p.n))
          return false;
    }
  return true;
}

/* --- what for --- */

static bool gains(const Drift *d) {
  Versions *of = d->range.of;
  unsigned now = ssa_slow_ones(&d->range, ssa_intervals_of(of));
  if (now < LEAST || of->tries++ >= MAX_TRIES)
    return false;
  uint8_t *bits = CX_ARRAY(of->cx, uint8_t, of->fn->next_id);
  for (unsigned k = 0; k < d->n; k++)
    bits[d->of[k]->id] = (uint8_t)d->bits;
  for (unsigned k = 0; k < d->nbounds; k++)
    bits[d->bounds[k].ins->id] = (uint8_t)d->bounds[k].bits;
  return ssa_slow_ones(&d->range, ir_intervals_if(of->cx, of->fn, bits)) + LEAST <= now;
}

/* Asked first, since the intervals of a function cost time. */
static bool has_product(const Range *r) {
  for (unsigned k = 1; k < r->loop.n; k++)
    FOR_INS (r->loop.blocks[k], i)
      if (i->op == OP_MUL && ssa_is_int64(i->type))
        return true;
  return false;
}

bool ssa_has_local_array(const Range *r) {
  for (unsigned k = 0; k < r->loop.n; k++)
    FOR_INS (r->loop.blocks[k], i)
      for (unsigned a = 0; a < i->nargs; a++)
        if (i->args[a]->type->id == TY_ARRAY && i->args[a]->type->space == SPACE_LOCAL)
          return true;
  return false;
}

/* Rings in registers are found where a loop is the only one over its local array. */
static bool read_drift(Drift *d, Block *header, Block *latch) {
  Range *r = &d->range;
  r->latch = latch;
  if (!read_form(r, header, latch) || !has_product(r) || ssa_has_local_array(r))
    return false;
  find_drifts(d);
  if (!d->n || !find_products(d) || !find_bounds(d) || !gains(d))
    return false;
  for (unsigned k = 0; k < d->n; k++)
    d->signs[k] = ir_interval_at(ssa_intervals_of(r->of), d->of[k], header->succ[0]).lo < 0;
  return true;
}

/* --- writing --- */

/* From `at` to `no` if i has more than so many bits, or a sign; else to the block that is
 * returned. */
static Block *choose_if_small(const Drift *d, Block *at, Ins *i, unsigned bits, bool signs,
                              Block *no) {
  const Range *r = &d->range;
  Cx *cx = r->of->cx;
  Fn *fn = r->of->fn;
  if (signs) {
    Block *above = ir_block(cx, fn);
    ssa_choose(cx, fn, r, at, i, OP_GE, 0, above, no);
    at = above;
  }
  Block *below = ir_block(cx, fn);
  ssa_choose(cx, fn, r, at, i, OP_LT, (int64_t)1 << bits, below, no);
  return below;
}

/* What the loop does not change is computed in front, and read by its first version. */
static Block *choose_in_front(const Drift *d, Block *at, const Block *fast, Block *no) {
  const Range *r = &d->range;
  for (unsigned k = 0; k < d->nbounds; k++) {
    Ins *i = d->bounds[k].ins, *before = ssa_in_front(r->of->cx, r->of->fn, r, at, i, NULL);
    if (is_inside(r, i))
      ir_replace(i->note, before);
    at = choose_if_small(d, at, before, d->bounds[k].bits, true, no);
  }
  for (unsigned k = 0; k < d->n; k++)
    at = choose_if_small(d, at, ssa_from_edge(d->of[k]->note, fast), d->bits, true, no);
  return at;
}

static void write_drift(Cx *cx, Fn *fn, const Drift *d) {
  const Range *r = &d->range;
  Block *header = r->loop.blocks[0], *exit = ssa_split_edge(cx, fn, header, r->outside);
  Block *before = header->preds.data[header->preds.data[0] == r->latch];
  Block *entry = ssa_split_edge(cx, fn, before, header);
  Block *fast = ir_block(cx, fn), *leave = ir_block(cx, fn);
  const Type *type = header->last->type;
  Loc loc = r->less->loc;
  ssa_copy_blocks(cx, fn, r);
  Block *top = ssa_copy_of_block(header), *body = ssa_copy_of_block(header->succ[0]);
  ir_br(cx, fn, fast, top, loc)->type = type;
  ssa_copy_branches(cx, fn, r);
  ssa_copy_phis(r, entry, fast);

  ir_remove(entry->last);
  ir_unlink(entry, header);
  Block *at = choose_in_front(d, entry, fast, leave);
  ir_br(cx, fn, at, fast, loc)->type = type;
  uint32_t in_front = leave->preds.len;

  Ins *goes_on = top->last->args[0];
  ir_remove(top->last);
  ir_unlink(top, body);
  ir_unlink(top, exit);
  at = ir_block(cx, fn);
  ir_condbr(cx, fn, top, goes_on, at, leave, loc)->type = type;
  for (unsigned k = 0; k < d->n; k++)
    at = choose_if_small(d, at, d->of[k]->note, d->bits, d->signs[k], leave);
  ir_br(cx, fn, at, body, loc)->type = type;

  ssa_lead_back(cx, fn, r, fast, leave, in_front);
}

void cg_version_drifts(Cx *cx, Fn *fn) {
  VEC(Drift) all = {0};
  Versions of = {.cx = cx, .fn = fn};
  FOR_BLOCKS (fn, latch)
    for (int s = 0; s < 2; s++) {
      Drift d = {.range = {.of = &of, .known = true}};
      if (all.len < MAX_LOOPS && latch->succ[s] && !(latch->last->flags & INS_ROLLED) &&
          read_drift(&d, latch->succ[s], latch))
        VEC_PUSH(&cx->arena, &all, d);
    }
  if (!all.len)
    return;
  for (uint32_t k = 0; k < all.len; k++)
    write_drift(cx, fn, &all.data[k]);
  ir_settle(fn);
  ir_drop_dead(cx, fn);
  ir_order(cx, fn);
  ir_dominators(cx, fn);
}
