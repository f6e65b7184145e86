/* Sign versions: loops of which an index may be negative where they begin or end, written twice.
 *
 *   for k in range(taps.size):
 *     s += taps[k] * x[i - k]
 *
 * Each index is wrapped by itself, and has an address of its own. It falls with the counter, so
 * that it is negative nowhere if it is not at both ends of the range:
 *
 *   if i >= 0 and i - (taps.size - 1) >= 0:
 *     while k < stop: …      # no index is wrapped
 *   else:
 *     while k < stop: …
 *
 * So do variables that go along with the counter, and what is made of them:
 *
 *   for _ in range(length):
 *     out[to] = out[to - distance]
 *     to += 1
 *
 * Of such a length, or another stop, it may not be known that it fits 32 bits. Then it is asked for
 * that first, and the other version is rolled.
 *
 * In and out: as of range_versions.c, which writes the loops. */
#include "codegen/ssa/range_private.h"
#include "codegen/ssa/range_versions.h"
#include "ir/cfg.h"

#define LARGEST INT64_C(0x7fffffff)

enum {
  MAX_SIZE = 60, /* operations of a loop that is written twice */
  MAX_DEPTH = 6, /* of the expression of an index */
  FEW = 16,      /* iterations that are unrolled */
};

void ssa_read_along(Range *r) {
  int64_t step, n;
  r->nalong = 0;
  for (Ins *i = r->loop.blocks[0]->first; i->op == OP_PHI; i = i->next) {
    bool second = i->nargs == 2 && i->block->preds.data[1] == r->latch;
    const Ins *next = i->nargs == 2 ? i->args[second] : NULL;
    if (i != r->counter && next && r->nalong < MAX_ALONG && ssa_is_int64(i->type) &&
        next->op == OP_ADD && next->args[0] == i && next->args[1]->op == OP_CONST &&
        fz_get_int(next->args[1]->aux.frozen, &n) && fz_get_int(r->step->aux.frozen, &step) &&
        n == step)
      r->along[r->nalong++] = (Along){i, i->args[!second]};
  }
}

static bool is_of_64_bits(Interval a) {
  return a.lo <= a.hi && a.lo >= INT64_MIN && a.hi <= INT64_MAX;
}

/* What a sum or product is where the counter is `at`; false if it may leave 64 bits. */
static bool reach_of(const Range *r, const Ins *i, Interval at, Interval *is) {
  *is = i == r->counter ? at : ir_interval(ssa_intervals_of(r->of), i);
  if (i == r->counter || !ssa_in_loop(&r->loop, i->block) ||
      !(i->op == OP_ADD || i->op == OP_SUB || i->op == OP_MUL || i->op == OP_CAST))
    return is_of_64_bits(*is);
  Interval a, b = {0, 0};
  if (!reach_of(r, i->args[0], at, &a) || (i->op != OP_CAST && !reach_of(r, i->args[1], at, &b)))
    return false;
  IrWide ends[] = {a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi};
  *is = i->op == OP_SUB ? (Interval){a.lo - b.hi, a.hi - b.lo}
                        : (Interval){a.lo + b.lo, a.hi + b.hi};
  if (i->op == OP_MUL)
    *is = (Interval){ends[0], ends[0]};
  for (unsigned k = 1; i->op == OP_MUL && k < 4; k++)
    *is = (Interval){ends[k] < is->lo ? ends[k] : is->lo, ends[k] > is->hi ? ends[k] : is->hi};
  return is_of_64_bits(*is);
}

/* Is it negative nowhere if it is not at both ends, and may that be? A sum of the counter is so
 * also where it may leave 64 bits: it moves by less than 2^63, so that it is negative at the end if
 * it has wrapped around. */
static bool is_signed_by_ends(Range *r, const Ins *i) {
  Intervals *v = ssa_intervals_of(r->of);
  Course c = ssa_course_of(r, i, MAX_DEPTH);
  Interval first = ir_interval(v, r->start), last = ir_interval(v, r->stop), all, is;
  last = (Interval){last.lo - 1, last.hi - 1};
  all = (Interval){first.lo < last.lo ? first.lo : last.lo,
                   first.hi > last.hi ? first.hi : last.hi};
  bool sum = (c == RISES || c == FALLS) && first.lo >= INT32_MIN && r->far;
  if (c == ANY || c == STAYS || (!sum && !reach_of(r, i, all, &is)))
    return false;
  return (reach_of(r, i, first, &is) ? is.hi >= 0 : sum) &&
         (reach_of(r, i, last, &is) ? is.hi >= 0 : sum);
}

/* A loop of a few iterations is unrolled, and its indices are constant distances apart anyway. */
static bool is_long(const Range *r) {
  int64_t start, stop;
  return r->start->op != OP_CONST || r->stop->op != OP_CONST ||
         !fz_get_int(r->start->aux.frozen, &start) || !fz_get_int(r->stop->aux.frozen, &stop) ||
         start < stop - FEW;
}

static bool read_signs(Range *r, Block *header, Block *latch) {
  *r = (Range){.of = r->of, .signs = true};
  if (!ssa_read_upward(r, header, latch, MAX_SIZE) || !is_long(r))
    return false;
  ssa_read_along(r);
  r->far = !ir_is_within(ssa_intervals_of(r->of), r->stop, (Interval){INT64_MIN, LARGEST});
  for (unsigned k = 1; k < r->loop.n; k++)
    FOR_INS (r->loop.blocks[k], i)
      if (i->op == OP_WRAP_INDEX && r->nchecks < MAX_CHECKS &&
          ssa_may_be_negative(r, i->args[0], i->block) && is_signed_by_ends(r, i->args[0]))
        r->checks[r->nchecks++] = i;
  return r->nchecks > 0;
}

void cg_version_signs(Cx *cx, Fn *fn) { ssa_version(cx, fn, read_signs); }
