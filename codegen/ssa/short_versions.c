/* Short versions: loops that compare or divide what depends on numbers from in front of them, which
 * may not fit 32 bits, written twice.
 *
 *   s = 1 << (order - 1)              base = i * down // up
 *   while s > 0:                      for k in range(taps):
 *     if x & s: …                       if 0 <= base - k < x.size:
 *     s >>= 1                             acc += h[k] * x[base - k]
 *
 * Nothing says that a power of two, or a product, fits 32 bits, so that neither does what the loop
 * makes of it. But it nearly always does, and a test in front asks:
 *
 *   if -2**30 <= base < 2**30:
 *     for k in range(taps): …         # base - k, and its comparisons, in 32 bits
 *   else:
 *     for k in range(taps): …         # rolled
 *
 * Which operations would fit the intervals say, computed once more as if those numbers did. That
 * decides what is written twice and nothing else: in the first version the intervals know of the
 * numbers by the test. Only powers, products and what was a float, as `int(x - radius)`, and sums,
 * selections and quotients of these, are asked for: numbers that were passed or loaded, as hashes
 * and keys are, have 64 bits more often than not. What divides is asked whether it is positive.
 *
 * A comparison that narrow.c makes fit, since it clamps the start of its loop, is no reason.
 *
 * In and out: as of range_versions.c, which writes the loops. */
#include "codegen/ssa/narrow.h"
#include "codegen/ssa/range_private.h"
#include "codegen/ssa/range_versions.h"
#include "ir/cfg.h"

enum {
  MAX_SIZE = 60,
  MAX_DEPTH = 6, /* of the expression of a number */
  MAX_TRIES = 8, /* of a function, whose intervals are computed for each */
  FEW = 8,       /* iterations */
  LEAST = 2,     /* operations that must fit then, and do not fit now */
};

static const Interval int32 = {INT32_MIN, INT32_MAX};

static bool is_long(const Ins *i) { return ssa_is_int64(i->type); }

static bool is_inside(const Range *r, const Ins *i) {
  return i->block && ssa_in_loop(&r->loop, i->block);
}

bool ssa_is_slow(const Ins *i) {
  switch ((Op)i->op) {
  case OP_LT:
  case OP_LE:
  case OP_EQ:
  case OP_NE:
  case OP_GT:
  case OP_GE:
  case OP_TRUEDIV: return is_long(i->args[0]) && is_long(i->args[1]);
  case OP_FLOORDIV:
  case OP_MOD: return is_long(i) && !ssa_is_power_of_two(i->args[1]);
  case OP_TRUTH: return is_long(i->args[0]);
  case OP_CAST: return is_long(i->args[0]) && ty_kind(i->type) == KIND_FLOAT;
  default: return false;
  }
}

/* --- which numbers --- */

bool ssa_is_computed(const Ins *i, unsigned depth) {
  if (!depth || !is_long(i))
    return false;
  switch ((Op)i->op) {
  case OP_MUL:
  case OP_LSHIFT: return true;
  case OP_ADD:
  case OP_SUB:
    return ssa_is_computed(i->args[0], depth - 1) || ssa_is_computed(i->args[1], depth - 1);
  case OP_SELECT:
    return ssa_is_computed(i->args[1], depth - 1) || ssa_is_computed(i->args[2], depth - 1);
  case OP_CAST:
    return ty_kind(i->args[0]->type) == KIND_FLOAT || ssa_is_computed(i->args[0], depth - 1);
  case OP_FLOORDIV: return ssa_is_computed(i->args[0], depth - 1);
  default: return false;
  }
}

bool ssa_add_number(Range *r, Ins *i) {
  for (unsigned k = 0; k < r->nnumbers; k++)
    if (r->numbers[k] == i)
      return true;
  bool room = r->nnumbers < MAX_NUMBERS;
  if (room)
    r->numbers[r->nnumbers++] = i;
  return room;
}

static bool add_number(Range *r, Ins *i) {
  if (is_inside(r, i) || !i->block || !ssa_is_computed(i, MAX_DEPTH) ||
      ir_is_within(ssa_intervals_of(r->of), i, int32))
    return true;
  return ssa_add_number(r, i);
}

/* Those that the loop reads, or that its variables begin with. */
static bool find_numbers(Range *r) {
  for (unsigned k = 0; k < r->loop.n; k++)
    FOR_INS (r->loop.blocks[k], i)
      for (uint32_t n = 0; n < i->nargs; n++)
        if (!add_number(r, i->args[n]))
          return false;
  return r->nnumbers > 0;
}

/* --- what for --- */

/* Is it a loop of a few iterations, known when compiling? It is unrolled, and has few operations
 * for what the other version takes. */
static bool is_few(const Block *header) {
  Counter c;
  int64_t start, stop;
  for (const Ins *phi = header->first; phi && phi->op == OP_PHI; phi = phi->next)
    if (ir_counter(phi, &c) && c.start->op == OP_CONST && c.stop->op == OP_CONST &&
        fz_get_int(c.start->aux.frozen, &start) && fz_get_int(c.stop->aux.frozen, &stop) &&
        stop - start <= FEW && start - stop <= FEW)
      return true;
  return false;
}

bool ssa_is_long(const Range *r) {
  for (unsigned k = 0; k < r->loop.n; k++) {
    const Block *b = r->loop.blocks[k];
    for (int s = 0; s < 2; s++)
      if (b->succ[s] && ssa_in_loop(&r->loop, b->succ[s]) && ir_dominates(b->succ[s], b) &&
          !is_few(b->succ[s]))
        return true;
  }
  return false;
}

unsigned ssa_slow_ones(const Range *r, const Intervals *v) {
  unsigned n = 0;
  for (unsigned k = 0; k < r->loop.n; k++)
    FOR_INS (r->loop.blocks[k], i)
      n += ssa_is_slow(i) && !ir_reads_within(v, i, int32) && !cg_narrow_clamps(v, i);
  return n;
}

bool ssa_gains_by_numbers(const Range *r) {
  Versions *of = r->of;
  unsigned now = ssa_slow_ones(r, ssa_intervals_of(of));
  if (now < LEAST || of->tries++ >= MAX_TRIES)
    return false;
  uint8_t *bits = CX_ARRAY(of->cx, uint8_t, of->fn->next_id);
  for (unsigned k = 0; k < r->nnumbers; k++)
    bits[r->numbers[k]->id] = TY_SMALL_BITS;
  for (unsigned k = 0; k < r->nshorts; k++)
    bits[r->shorts[k].ins->id] = SHORT_BITS;
  return ssa_slow_ones(r, ir_intervals_if(of->cx, of->fn, bits)) + LEAST <= now;
}

/* Asked first, since the intervals of a function cost time. */
static bool has_slow(const Range *r) {
  unsigned n = 0;
  for (unsigned k = 0; k < r->loop.n; k++)
    FOR_INS (r->loop.blocks[k], i)
      n += ssa_is_slow(i);
  return n >= LEAST;
}

/* Is it left from its header, where its condition does not hold? */
bool ssa_read_header(Range *r, const Block *header) {
  if (header->preds.len != 2 || header->last->op != OP_CONDBR)
    return false;
  r->less = header->last->args[0];
  r->outside = header->succ[1];
  return is_inside(r, r->less) && ssa_in_loop(&r->loop, header->succ[0]) &&
         !ssa_in_loop(&r->loop, r->outside);
}

static bool read_short(Range *r, Block *header, Block *latch) {
  *r = (Range){.of = r->of, .latch = latch, .known = true};
  return ssa_small_loop(&r->loop, header, latch) && ssa_is_short(&r->loop, MAX_SIZE) &&
         ssa_read_header(r, header) && has_slow(r) && ssa_is_long(r) && find_numbers(r) &&
         ssa_gains_by_numbers(r);
}

static bool is_read(const Range *r, const Ins *number) {
  for (unsigned k = 0; k < r->loop.n; k++)
    FOR_INS (r->loop.blocks[k], i)
      for (uint32_t n = 0; n < i->nargs; n++)
        if (i->args[n] == number)
          return true;
  return false;
}

/* A number of another loop, which has been written twice since, is one of two now. */
bool ssa_is_still_short(Range *r, const Block *header) {
  for (unsigned k = 0; k < r->nnumbers; k++)
    if (!is_read(r, r->numbers[k]))
      return false;
  return ssa_read_header(r, header);
}

/* --- the test in front --- */

/* Numbers divide by what is positive, but for rare ones: remainders are not negative then. */
static bool divides(const Range *r, const Ins *number) {
  for (unsigned k = 0; k < r->loop.n; k++)
    FOR_INS (r->loop.blocks[k], i)
      if ((i->op == OP_FLOORDIV || i->op == OP_MOD) && i->args[1] == number)
        return true;
  return false;
}

void ssa_choose_by_numbers(Cx *cx, Fn *fn, const Range *r, Block *at, Block *fast, Block *general) {
  for (unsigned k = 0; k < r->nnumbers; k++) {
    Block *above = ir_block(cx, fn), *next = k + 1 == r->nnumbers ? fast : ir_block(cx, fn);
    int64_t least = divides(r, r->numbers[k]) ? 1 : -(int64_t)TY_SMALL - 1;
    ssa_choose(cx, fn, r, at, r->numbers[k], OP_GE, least, above, general);
    ssa_choose(cx, fn, r, above, r->numbers[k], OP_LE, TY_SMALL, next, general);
    at = next;
  }
}

void cg_version_shorts(Cx *cx, Fn *fn) { ssa_version(cx, fn, read_short); }
