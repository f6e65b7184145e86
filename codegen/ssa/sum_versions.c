/* Sum versions: loops that divide by, or make a float of, sums that may not fit 32 bits, written
 * twice.
 *
 *   for y in range(rows):
 *     total += int(image[y + r, x]) - int(image[y - r - 1, x])
 *     out[y, x] = total // count
 *
 * Python's total has 64 bits, in which a GPU divides slowly. But a sum of bytes fits 32 after two
 * million of them, so a test in front of the loop asks for its trips and for what the sum begins
 * with:
 *
 *   if rows <= 2**21 and -2**29 <= total <= 2**29:
 *     while y < rows: …      # total stays within 2**30
 *   else:
 *     while y < rows: …      # rolled
 *
 * The intervals find that by themselves, since they know of guards and trips. Sums that are only
 * added up are left alone: an addition of 64 bits is two instructions. So are those of numbers so
 * large that a loop of usual length may leave 32 bits.
 *
 * In and out: as of range_versions.c, which writes the loops. */
#include "codegen/ssa/range_private.h"
#include "codegen/ssa/range_versions.h"
#include "ir/cfg.h"

enum { MAX_SIZE = 90, MAX_DEPTH = 8 };

#define ROOM        ((IrWide)1 << 29) /* for what a sum begins with, and for what is added */
#define LEAST_TRIPS ((IrWide)1 << 20)

static const Interval int32 = {INT32_MIN, INT32_MAX};

static bool is_long(const Ins *i) { return ty_kind(i->type) == KIND_INT && ty_bits(i->type) == 64; }

static bool is_inside(const Range *r, const Ins *i) { return ssa_in_loop(&r->loop, i->block); }

static bool fits(const Range *r, const Ins *i) {
  return ir_is_within(ssa_intervals_of(r->of), i, int32);
}

/* --- which sums --- */

bool ssa_moved(const Range *r, const Ins *sum, const Ins *v, Interval *by, unsigned depth) {
  Interval other, term;
  *by = (Interval){0, 0};
  if (v == sum)
    return true;
  if (!depth || !is_inside(r, v) || v->block == r->loop.blocks[0])
    return false;
  if (v->op == OP_PHI || v->op == OP_SELECT) {
    uint32_t first = v->op == OP_SELECT;
    if (!ssa_moved(r, sum, v->args[first], by, depth - 1))
      return false;
    for (uint32_t k = first + 1; k < v->nargs; k++) {
      if (!ssa_moved(r, sum, v->args[k], &other, depth - 1))
        return false;
      *by = (Interval){other.lo < by->lo ? other.lo : by->lo,
                       other.hi > by->hi ? other.hi : by->hi};
    }
    return true;
  }
  if (v->op != OP_ADD && v->op != OP_SUB)
    return false;
  bool second = v->op == OP_ADD && !ssa_moved(r, sum, v->args[0], by, depth - 1);
  if (!ssa_moved(r, sum, v->args[second], by, depth - 1) || !fits(r, v->args[!second]))
    return false;
  term = ir_interval(ssa_intervals_of(r->of), v->args[!second]);
  *by = v->op == OP_ADD ? (Interval){by->lo + term.lo, by->hi + term.hi}
                        : (Interval){by->lo - term.hi, by->hi - term.lo};
  return true;
}

static Ins *next_of(const Range *r, const Ins *phi) { return ssa_from_edge(phi, r->latch); }

/* Notes the variables of the loop that move by small steps, and fit 32 bits only so long. */
static void find_sums(Range *r) {
  for (Ins *phi = r->loop.blocks[0]->first; phi->op == OP_PHI; phi = phi->next) {
    Interval by;
    if (r->nsums == MAX_SUMS || phi == r->counter || !is_long(phi) || phi->nargs != 2 ||
        fits(r, phi) || !ssa_moved(r, phi, next_of(r, phi), &by, MAX_DEPTH))
      continue;
    IrWide most = -by.lo > by.hi ? -by.lo : by.hi, trips = most ? ROOM / most : ROOM;
    if (trips < LEAST_TRIPS)
      continue;
    r->sums[r->nsums++] = phi;
    r->trips = trips < r->trips ? (int64_t)trips : r->trips;
  }
}

/* --- what for --- */

/* Would v fit 32 bits if the sums did? Notes whether it is made of one. */
static bool would_fit(const Range *r, const Ins *v, bool *of_sum, unsigned depth) {
  Interval by;
  if (fits(r, v))
    return true;
  for (unsigned k = 0; k < r->nsums; k++)
    if (is_inside(r, v) && ssa_moved(r, r->sums[k], v, &by, MAX_DEPTH)) {
      *of_sum = true;
      return true;
    }
  if (!depth || !is_inside(r, v) || !is_long(v))
    return false;
  switch ((Op)v->op) {
  case OP_CAST:
  case OP_NEG: return is_long(v->args[0]) && would_fit(r, v->args[0], of_sum, depth - 1);
  case OP_FLOORDIV:
  case OP_ADD:
  case OP_SUB:
    return would_fit(r, v->args[0], of_sum, depth - 1) &&
           would_fit(r, v->args[1], of_sum, depth - 1);
  default: return false;
  }
}

bool ssa_is_power_of_two(const Ins *i) {
  int64_t n;
  return i->op == OP_CONST && fz_get_int(i->aux.frozen, &n) && n > 0 && !(n & (n - 1));
}

/* Does it take far longer with 64 bits than with 32? */
static bool is_slow(const Ins *i) {
  switch ((Op)i->op) {
  case OP_FLOORDIV:
  case OP_MOD: return is_long(i) && !ssa_is_power_of_two(i->args[1]);
  case OP_TRUEDIV: return is_long(i->args[0]) && is_long(i->args[1]);
  case OP_CAST: return is_long(i->args[0]) && ty_kind(i->type) == KIND_FLOAT;
  default: return false;
  }
}

static bool gains(const Range *r) {
  for (unsigned k = 1; k < r->loop.n; k++)
    FOR_INS (r->loop.blocks[k], i) {
      bool of_sum = false, fit = is_slow(i);
      for (uint32_t n = 0; n < i->nargs && fit; n++)
        fit = would_fit(r, i->args[n], &of_sum, MAX_DEPTH);
      if (fit && of_sum)
        return true;
    }
  return false;
}

/* Asked first, since the intervals of a function cost time. */
static bool has_slow(const Range *r) {
  for (unsigned k = 1; k < r->loop.n; k++)
    FOR_INS (r->loop.blocks[k], i)
      if (is_slow(i))
        return true;
  return false;
}

static bool read_sums(Range *r, Block *header, Block *latch) {
  *r = (Range){.of = r->of, .trips = (int64_t)ROOM};
  if (!ssa_read_upward(r, header, latch, MAX_SIZE) || header->preds.len != 2 || !has_slow(r))
    return false;
  find_sums(r);
  return r->nsums && gains(r);
}

/* --- the test in front --- */

void ssa_choose_by_sums(Cx *cx, Fn *fn, const Range *r, Block *at, Block *fast, Block *general) {
  for (unsigned k = 0; k < r->nsums; k++) {
    const Ins *phi = r->sums[k];
    Ins *first = phi->args[phi->args[0] == next_of(r, phi)];
    Block *above = ir_block(cx, fn), *below = ir_block(cx, fn);
    ssa_choose(cx, fn, r, at, first, OP_GE, -(int64_t)ROOM, above, general);
    ssa_choose(cx, fn, r, above, first, OP_LE, (int64_t)ROOM, below, general);
    at = below;
  }
  Ins *stop = ssa_in_front(cx, fn, r, at, r->stop, r->start);
  Block *last = ir_block(cx, fn);
  ssa_choose(cx, fn, r, at, r->start, OP_GE, 0, last, general);
  ssa_choose(cx, fn, r, last, stop, OP_LE, r->trips, fast, general);
}

void cg_version_sums(Cx *cx, Fn *fn) { ssa_version(cx, fn, read_sums); }
