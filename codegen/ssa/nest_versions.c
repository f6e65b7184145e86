/* Nest versions: loops around short loops that compare what depends on numbers from in front of
 * them, which may not fit 32 bits, written twice.
 *
 *   first_y = row * stride - pad      first_x = col * stride - pad
 *   for a in range(size):
 *     y = first_y + a * dilation
 *     if y < 0 or y >= h: continue
 *     for b in range(size):
 *       x = first_x + b * dilation
 *       if 0 <= x < w: …
 *
 * short_versions.c and factor_versions would write the inner loop twice: with a test in front of
 * it, in each row, and with y, which the loop around it compares, in 64 bits. One test in front of
 * both loops asks for all:
 *
 *   if -2**30 <= first_y < 2**30 and -2**30 <= first_x < 2**30
 *       and size <= 2**15 and -2**15 < dilation < 2**15:
 *     for a in range(size): …         # in 32 bits, the inner loop too
 *   else:
 *     for a in range(size): …         # both rolled
 *
 * Numbers from in front, which variables may begin with, are asked for 30 bits and a sign, those
 * that a product is made of for 15, so that the sum of a number and a product fits 32. Of a counter
 * its stop is asked, which a constant start, 0 or a little more, leaves as its bound; the intervals
 * find both by the test.
 *
 * As in short_versions.c the intervals say what would fit then. What is written twice has the same
 * operations in both versions, so that the choice decides about speed and nothing else.
 *
 * In and out: as of range_versions.c, which writes the loops. Two nests of one function have no
 * block in common, since a nest's inner loops have no loops in them. */
#include "codegen/ssa/range_private.h"
#include "codegen/ssa/range_versions.h"
#include "ir/cfg.h"

enum {
  MAX_SIZE = 120,
  MAX_DEPTH = 6, /* of a sum that is compared */
  MOST = (1 << SHORT_BITS) - 1,
};

static const Interval int32 = {INT32_MIN, INT32_MAX};

static bool is_inside(const Range *r, const Ins *i) {
  return i->block && ssa_in_loop(&r->loop, i->block);
}

static bool fits(Range *r, const Ins *i) { return ir_is_within(ssa_intervals_of(r->of), i, int32); }

/* --- which numbers --- */

/* The stop, of which can be asked in front, of what counts there from a small constant; else NULL.
 */
static Ins *small_stop(const Range *r, const Ins *i) {
  Counter c;
  int64_t from;
  bool counts = i->op == OP_PHI && ir_counter(i, &c) && !c.down && !c.closed &&
                c.next->op == OP_ADD && c.start->op == OP_CONST &&
                fz_get_int(c.start->aux.frozen, &from) && from >= 0 && from <= MOST;
  Ins *stop = counts ? ssa_uncast((Ins *)c.stop) : NULL;
  return counts && ssa_is_int64(stop->type) && (!is_inside(r, stop) || stop->op == OP_EXTENT)
             ? stop
             : NULL;
}

/* What a product is made of. */
static bool add_short(Range *r, Ins *i) {
  int64_t n;
  i = ssa_uncast(i);
  if (i->op == OP_CONST && fz_get_int(i->aux.frozen, &n))
    return n >= -MOST && n <= MOST;
  for (unsigned k = 0; k < r->nshorts; k++)
    if (r->shorts[k].ins == i)
      return true;
  Ins *asked = is_inside(r, i) ? small_stop(r, i) : i;
  bool can = asked && i->op != OP_CONST && ssa_is_int64(i->type) && r->nshorts < MAX_FACTORS;
  if (can)
    r->shorts[r->nshorts++] = (Short){i, asked};
  return can;
}

/* Notes what v, of which all bits are read, is made of; false: it is too much. */
static bool find(Range *r, Ins *v, unsigned depth) {
  if (!depth || !ssa_is_int64(v->type))
    return true;
  if (!is_inside(r, v))
    return !v->block || !ssa_is_computed(v, MAX_DEPTH) || fits(r, v) || ssa_add_number(r, v);
  if (v->op == OP_ADD || v->op == OP_SUB)
    return find(r, v->args[0], depth - 1) && find(r, v->args[1], depth - 1);
  if (v->op == OP_CAST)
    return find(r, v->args[0], depth - 1);
  if (v->op == OP_PHI) { /* what a variable begins with */
    for (uint32_t k = 0; k < v->nargs; k++)
      if (!is_inside(r, v->args[k]) && !find(r, v->args[k], depth - 1))
        return false;
    return true;
  }
  return v->op != OP_MUL || fits(r, v) || (add_short(r, v->args[0]) && add_short(r, v->args[1]));
}

static bool find_numbers(Range *r) {
  for (unsigned k = 0; k < r->loop.n; k++)
    FOR_INS (r->loop.blocks[k], i)
      for (uint32_t n = 0; n < i->nargs && ssa_is_slow(i); n++)
        if (!find(r, i->args[n], MAX_DEPTH))
          return false;
  return r->nnumbers > 0;
}

/* --- the nest --- */

static bool read_nest(Range *r, Block *header, Block *latch) {
  *r = (Range){.of = r->of, .latch = latch, .known = true, .nest = true};
  r->end_id = r->of->fn->next_id;
  return ssa_small_nest(&r->loop, header, latch) && ssa_is_short(&r->loop, MAX_SIZE) &&
         ssa_read_header(r, header) && ssa_is_long(r) && find_numbers(r) && ssa_gains_by_numbers(r);
}

/* Writing another nest may have given it operands that are new. */
bool ssa_is_still_nest(Range *r, const Block *header) {
  for (unsigned k = 0; k < r->loop.n; k++)
    FOR_INS (r->loop.blocks[k], i)
      for (uint32_t n = 0; n < i->nargs; n++)
        if (i->args[n]->id >= r->end_id)
          return false;
  return ssa_read_header(r, header);
}

/* --- the test in front --- */

/* Goes on in the block that is returned if the comparison of v with n holds. */
static Block *choose(Cx *cx, Fn *fn, const Range *r, Block *at, Ins *v, Op op, int64_t n,
                     Block *general) {
  Block *next = ir_block(cx, fn);
  ssa_choose(cx, fn, r, at, v, op, n, next, general);
  return next;
}

void ssa_choose_by_nest(Cx *cx, Fn *fn, const Range *r, Block *at, Block *fast, Block *general) {
  for (unsigned k = 0; k < r->nnumbers; k++) {
    at = choose(cx, fn, r, at, r->numbers[k], OP_GE, -(int64_t)TY_SMALL - 1, general);
    at = choose(cx, fn, r, at, r->numbers[k], OP_LE, TY_SMALL, general);
  }
  for (unsigned k = 0; k < r->nshorts; k++) {
    const Short *s = &r->shorts[k];
    bool counts = s->asked != s->ins; /* up from 0 or more, to less than its stop */
    Ins *v = ssa_in_front(cx, fn, r, at, s->asked, NULL);
    at = counts ? at : choose(cx, fn, r, at, v, OP_GE, -MOST, general);
    at = choose(cx, fn, r, at, v, OP_LE, MOST + counts, general);
  }
  ir_br(cx, fn, at, fast, r->less->loc)->type = r->loop.blocks[0]->last->type;
}

/* The general version hardly ever runs. */
void ssa_roll_nest(const Range *r) {
  for (unsigned k = 0; k < r->loop.n; k++)
    for (int s = 0; s < 2; s++) {
      Block *b = r->loop.blocks[k], *to = b->succ[s];
      if (to && ssa_in_loop(&r->loop, to) && ir_dominates(to, b))
        b->last->flags |= INS_ROLLED;
    }
}

void cg_version_nests(Cx *cx, Fn *fn) { ssa_version(cx, fn, read_nest); }
