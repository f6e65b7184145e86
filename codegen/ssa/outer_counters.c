/* Outer counters: what a loop around a loop says of a number that moves with its counter.
 *
 *   for y in range(max(0, i - radius), min(rows, i + radius + 1)):
 *     for x in …:
 *       near += (y - i) * (y - i) + …
 *
 * The inner loop does not change y - i, and a test in front of it, whether that has at most 15 bits
 * (range_versions.c), would be made in each row. Here it is asked of the first and the last number
 * of the outer range, which no row changes, so that LLVM moves the test in front of both loops:
 * between its ends the difference only rises, or only falls.
 *
 * A range from a constant on is left alone. It may be one over all of an array, most rows of which
 * are near enough where some are not.
 *
 * In: a factor that the inner loop does not change. Out: its values at the ends. */
#include "codegen/ssa/range_private.h"
#include "ir/cfg.h"

/* Which operand of the counter comes from the latch: counter + a positive constant. */
static bool read_step(const Ins *counter, bool *second) {
  int64_t n;
  if (counter->op != OP_PHI || counter->nargs != 2)
    return false;
  for (int k = 0; k < 2; k++) {
    const Ins *next = counter->args[k];
    const Ins *by = next->op == OP_ADD ? next->args[next->args[0] == counter] : NULL;
    *second = k;
    if (by && (next->args[0] == counter || next->args[1] == counter) && by->op == OP_CONST &&
        fz_get_int(by->aux.frozen, &n) && n > 0)
      return true;
  }
  return false;
}

/* The counter's own block goes on while counter < stop, which holds where the loop is. */
static bool is_counter_around(const Range *r, const Ins *counter) {
  const Block *header = counter->block;
  bool second;
  if (!read_step(counter, &second) || header->preds.len != 2 ||
      !ir_dominates(header, header->preds.data[second]))
    return false;
  const Ins *end = header->last, *less = end->op == OP_CONDBR ? end->args[0] : NULL;
  return less && less->op == OP_LT && less->args[0] == counter &&
         less->args[1]->type == counter->type && counter->args[!second]->op != OP_CONST &&
         header->succ[0] != header->succ[1] && header->succ[0]->preds.len == 1 &&
         ir_dominates(header->succ[0], r->loop.blocks[0]);
}

/* Is it computed before the loop of that counter? */
static bool is_before(const Ins *i, const Ins *counter) {
  return i->op == OP_CONST ||
         (i->block && i->block != counter->block && ir_dominates(i->block, counter->block));
}

static bool stop_is_before(const Ins *counter) {
  return is_before(counter->block->last->args[0]->args[1], counter);
}

Ins *ssa_outer_counter(const Range *r, const Ins *i) {
  if ((i->op != OP_ADD && i->op != OP_SUB) || !i->block || !ssa_in_loop(&r->loop, i->block))
    return NULL; /* what is in front of the loop has its range by the test itself */
  for (int k = 0; k < 2; k++) {
    Ins *counter = ssa_uncast(i->args[k]);
    if (ssa_is_int64(counter->type) && is_counter_around(r, counter) && stop_is_before(counter) &&
        is_before(i->args[1 - k], counter))
      return counter;
  }
  return NULL;
}

/* v where the counter, which it is but for casts, is `at_end`. */
static Ins *at_the_end(Cx *cx, Fn *fn, const Range *r, Block *at, const Ins *v, const Ins *counter,
                       Ins *at_end) {
  if (v == counter)
    return at_end;
  Ins *of = at_the_end(cx, fn, r, at, v->args[0], counter, at_end);
  Ins *cast = ir_ins(cx, fn, OP_CAST, v->type, r->less->loc, &of, 1);
  ir_append(at, cast);
  return cast;
}

/* The factor there. */
static Ins *with(Cx *cx, Fn *fn, const Range *r, Block *at, const Ins *i, const Ins *counter,
                 Ins *at_end) {
  Ins *args[] = {i->args[0], i->args[1]};
  bool second = ssa_uncast(args[0]) != counter;
  args[second] = at_the_end(cx, fn, r, at, args[second], counter, at_end);
  args[!second] = ssa_in_front(cx, fn, r, at, args[!second], NULL); /* a constant may be inside */
  return ssa_append(cx, fn, r, at, (Op)i->op, i->type, args[0], args[1]);
}

void ssa_outer_ends(Cx *cx, Fn *fn, const Range *r, Block *at, const Ins *i, Ins *counter,
                    Ins **low, Ins **high) {
  bool second, falls = i->op == OP_SUB && ssa_uncast(i->args[0]) != counter;
  CX_ASSERT(cx, read_step(counter, &second));
  Ins *one = ir_const(cx, fn, fz_int(cx, 1), counter->type, r->less->loc);
  ir_append(at, one);
  Ins *stop = counter->block->last->args[0]->args[1];
  Ins *last = ssa_append(cx, fn, r, at, OP_SUB, counter->type, stop, one);
  *low = with(cx, fn, r, at, i, counter, falls ? last : counter->args[!second]);
  *high = with(cx, fn, r, at, i, counter, falls ? counter->args[!second] : last);
}
