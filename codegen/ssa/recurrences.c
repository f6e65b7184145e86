/* Recurrences: loops that compare what they carry along, which moves by numbers known at run time
 * only, written twice.
 *
 *   for r in range(1, rows + 1):           # h, a local array of int32
 *     for k in range(BAND):
 *       gap = max(gap, left - opening) - extension
 *       left = max(h[k] + (match if … else -mismatch), gap)
 *       h[k] = left
 *       best = max(best, left)
 *
 * No range bounds such values: they take a step, of `opening` or `match`, as often as the loops
 * run. But such steps are small, and an alignment is not long, which a test in front asks:
 *
 *   if -2**8 <= match, mismatch, opening, extension < 2**8 and -2**14 <= rows < 2**14:
 *     for r in …         # in 32 bits
 *   else:
 *     for r in …
 *
 * Values of a recurrence are phis, selections (so minima and maxima), elements of local arrays, and
 * sums of one of them and a step. Each sum is computed once in an iteration, so that none is
 * further from 0 than what the recurrence begins with, and all steps of all sums, as often as they
 * run. That bounds them all at once, whatever the ways between them. Sums that are only compared,
 * as `best - drop`, go no further, so that their steps may be longer. As in short_versions.c, the
 * intervals are computed once more as if the numbers that the test asks fit; they hold behind the
 * test, as these numbers are computed once in a thread. The first version has the marks of narrow.c
 * for what that shows.
 *
 * In and out: a strict Fn in order, with a single back edge a loop, and dominators. */
#include "codegen/ssa/range_private.h"
#include "codegen/ssa/range_versions.h"
#include "ir/cfg.h"

enum {
  MAX_SIZE = 200, /* operations of all loops together */
  MAX_DEPTH = 6,  /* of a step */
  MAX_ASKED = 8,
  MAX_EXITS = 6,
  MAX_TRIES = 4,  /* of a function, whose intervals are computed for each */
  STEP_BITS = 8,  /* of a step */
  LAST_BITS = 24, /* of one whose sum is only compared */
  TRIP_BITS = 14, /* of how often a loop runs */
  MOST_UNROLLED = 128,
  LEAST = 2, /* comparisons that fit then, and do not fit now */
};

#define FIRST    ((IrWide)1 << 29) /* what a recurrence begins with is at most so far from 0 */
#define MOST     ((IrWide)INT32_MAX)
#define ANY_STEP ((IrWide)1 << 16)
#define ANY_LAST ((IrWide)1 << LAST_BITS)

static const Interval int32 = {INT32_MIN, INT32_MAX};

typedef struct Asked { /* it has so many bits and a sign; its value in front of the loops */
  Ins *ins;
  uint8_t bits;
} Asked;

typedef struct Recurrence {
  Range range;
  Asked asked[MAX_ASKED];
  unsigned nasked;
  Intervals *then; /* if all fit what is asked */
  bool *of;        /* by Ins id: is it a value of the recurrence, or a local array of such? */
  bool *goes_on;   /* by Ins id: does something else than a comparison read it? */
} Recurrence;

static bool is_inside(const Recurrence *c, const Ins *i) {
  return i->block && ssa_in_loop(&c->range.loop, i->block);
}

static bool is_whole_number(const Ins *i) {
  return ty_kind(i->type) == KIND_INT && ty_is_signed(i->type) && ty_bits(i->type) >= 32;
}

static bool lies_within(const Intervals *v, const Ins *i, IrWide reach) {
  return ir_is_within(v, i, (Interval){-reach, reach});
}

/* --- computed once ---
 *
 * What is computed in no loop has one value in a thread. */

/* Is b in the loop of that back edge? */
static bool is_in_loop_of(Cx *cx, const Fn *fn, const Block *b, Block *header, Block *latch) {
  if (!ir_dominates(header, b))
    return false;
  bool *seen = CX_ARRAY(cx, bool, fn->next_block);
  VEC(Block *) blocks = {0};
  VEC_PUSH(&cx->arena, &blocks, latch);
  seen[header->id] = seen[latch->id] = true;
  for (uint32_t at = 0; at < blocks.len; at++)
    for (uint32_t k = 0; blocks.data[at] != header && k < blocks.data[at]->preds.len; k++) {
      Block *from = blocks.data[at]->preds.data[k];
      if (!seen[from->id])
        VEC_PUSH(&cx->arena, &blocks, from);
      seen[from->id] = true;
    }
  return seen[b->id];
}

static bool is_once(const Recurrence *c, const Block *b) {
  Fn *fn = c->range.of->fn;
  FOR_BLOCKS (fn, latch)
    for (int s = 0; s < 2; s++) {
      Block *header = latch->succ[s];
      if (header && ir_dominates(header, latch) && header != c->range.loop.blocks[0] &&
          !ssa_in_loop(&c->range.loop, header) &&
          is_in_loop_of(c->range.of->cx, fn, b, header, latch))
        return false;
    }
  return true;
}

/* --- what is asked --- */

static bool ask(Recurrence *c, Ins *i, uint8_t bits) {
  for (unsigned k = 0; k < c->nasked; k++)
    if (c->asked[k].ins == i) {
      c->asked[k].bits = bits < c->asked[k].bits ? bits : c->asked[k].bits;
      return true;
    }
  bool known = i->op == OP_EXTENT ? i->args[0]->op == OP_PARAM : !is_inside(c, i);
  bool can = c->nasked < MAX_ASKED && known && ssa_is_int64(i->type) &&
             (i->op == OP_EXTENT || is_once(c, i->block));
  if (can)
    c->asked[c->nasked++] = (Asked){i, bits};
  return can;
}

static bool is_sum(const Ins *i) { return i->op == OP_ADD || i->op == OP_SUB; }

/* Is it a step, if what the loops do not change of it has so few bits? Asks that, but for 0. */
static bool is_step(Recurrence *c, Ins *i, uint8_t bits, unsigned depth) {
  if (!is_whole_number(i) || !depth)
    return false;
  if (lies_within(ssa_intervals_of(c->range.of), i, ANY_STEP))
    return true;
  if (!is_inside(c, i))
    return ssa_is_int64(i->type) && (!bits || ask(c, i, bits));
  bool passes = i->op == OP_SELECT || i->op == OP_NEG || i->op == OP_CAST || is_sum(i) ||
                (i->op == OP_PHI && !ssa_is_header(i->block));
  for (uint32_t k = i->op == OP_SELECT; passes && k < i->nargs; k++)
    passes = is_step(c, i->args[k], bits, depth - 1);
  return passes;
}

/* Is it made of what an iteration leaves to the next one, but for a counter? */
static bool is_carried(Recurrence *c, const Ins *i, unsigned depth) {
  Counter n;
  if (!depth || !is_inside(c, i) || !is_whole_number(i))
    return false;
  if (i->op == OP_LOAD)
    return i->args[0]->type->space == SPACE_LOCAL;
  if (i->op == OP_PHI && ssa_is_header(i->block))
    return !ir_counter(i, &n);
  bool passes = i->op == OP_PHI || i->op == OP_SELECT || i->op == OP_CAST || i->op == OP_NEG ||
                is_sum(i);
  for (uint32_t k = i->op == OP_SELECT; passes && k < i->nargs; k++)
    if (is_carried(c, i->args[k], depth - 1))
      return true;
  return false;
}

/* The steps of sums that do not fit now, of what is carried. */
static bool ask_steps(Recurrence *c) {
  const Intervals *now = ssa_intervals_of(c->range.of);
  for (unsigned k = 0; k < c->range.loop.n; k++)
    FOR_INS (c->range.loop.blocks[k], i) {
      if (!is_sum(i) || !ssa_is_int64(i->type) || ir_is_within(now, i, int32))
        continue;
      for (unsigned n = 2; n-- > 0;)
        if (is_step(c, i->args[n], 0, MAX_DEPTH) && is_carried(c, i->args[!n], MAX_DEPTH)) {
          if (!is_step(c, i->args[n], c->goes_on[i->id] ? STEP_BITS : LAST_BITS, MAX_DEPTH))
            return false;
          break;
        }
    }
  return true;
}

/* How often the loops run: of one at most that is asked for its stop, or, downward, its start. */
static bool ask_trips(Recurrence *c) {
  const Intervals *now = ssa_intervals_of(c->range.of);
  unsigned asked = 0;
  for (unsigned k = 0; k < c->range.loop.n; k++) {
    const Block *b = c->range.loop.blocks[k];
    if (!ssa_is_header(b) || ir_trips(now, b) >> TRIP_BITS == 0)
      continue;
    bool counts = false;
    Counter n;
    for (const Ins *phi = b->first; phi->op == OP_PHI && !counts; phi = phi->next)
      counts = ir_counter(phi, &n) &&
               ask(c, ssa_uncast((Ins *)(n.down ? n.start : n.stop)), TRIP_BITS);
    if (!counts || asked++)
      return false;
  }
  return true;
}

/* --- the values --- */

/* Is it one, or what one may begin with? */
static bool is_bounded(const Recurrence *c, const Ins *i) {
  return c->of[i->id] || (is_whole_number(i) && lies_within(c->then, i, FIRST));
}

/* Is all that is done with it that elements are loaded, and bounded ones stored? */
static bool is_bounded_array(const Recurrence *c, const Ins *array) {
  FOR_BLOCKS (c->range.of->fn, b)
    FOR_INS (b, i)
      for (uint32_t k = 0; k < i->nargs; k++) {
        const Ins *value = i->args[i->nargs - 1];
        if (i->args[k] == array &&
            (k || (i->op == OP_LOAD    ? i->type != array->type->elem
                   : i->op == OP_STORE ? value->type != array->type->elem || !is_bounded(c, value)
                                       : i->op != OP_EXTENT)))
          return false;
      }
  return true;
}

/* Operand k of a sum. */
static bool is_small_step(const Recurrence *c, const Ins *sum, unsigned k) {
  return !c->of[sum->args[k]->id] &&
         lies_within(c->then, sum->args[k], c->goes_on[sum->id] ? ANY_STEP : ANY_LAST);
}

static bool may_be(const Ins *i) {
  switch ((Op)i->op) {
  case OP_ALLOC:
    return i->type->space == SPACE_LOCAL && !i->aux.alloc->dynamic &&
           ty_kind(i->type->elem) == KIND_INT && ty_is_signed(i->type->elem) &&
           ty_bits(i->type->elem) >= 32;
  case OP_PHI:
  case OP_SELECT:
  case OP_CAST:
  case OP_NEG:
  case OP_LOAD:
  case OP_ADD:
  case OP_SUB: return is_whole_number(i);
  default: return false;
  }
}

/* Is it a value if all that are taken for such are? */
static bool is_value(const Recurrence *c, const Ins *i) {
  switch ((Op)i->op) {
  case OP_ALLOC: return is_bounded_array(c, i);
  case OP_LOAD: return c->of[i->args[0]->id];
  case OP_ADD:
    if (is_small_step(c, i, 0) && is_bounded(c, i->args[1]))
      return true;
    return is_bounded(c, i->args[0]) && is_small_step(c, i, 1);
  case OP_SUB: return is_bounded(c, i->args[0]) && is_small_step(c, i, 1);
  default:
    for (uint32_t k = i->op == OP_SELECT; k < i->nargs; k++)
      if (!is_bounded(c, i->args[k]))
        return false;
    return true;
  }
}

/* The largest set of values in which each is one by the others. A local array keeps what is stored
 * there from one time to the next that the loops are come to. */
static void find_values(Recurrence *c) {
  Fn *fn = c->range.of->fn;
  bool once = is_once(c, c->range.loop.blocks[0]);
  VEC(Ins *) all = {0};
  FOR_BLOCKS (fn, b)
    FOR_INS (b, i)
      if (may_be(i) &&
          (i->op == OP_ALLOC ? once : is_inside(c, i) && !lies_within(c->then, i, FIRST))) {
        c->of[i->id] = true;
        VEC_PUSH(&c->range.of->cx->arena, &all, i);
      }
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t k = 0; k < all.len; k++) {
      Ins *i = all.data[k];
      if (c->of[i->id] && !is_value(c, i)) {
        c->of[i->id] = false;
        changed = true;
      }
    }
  }
}

/* --- how far they go --- */

static IrWide reach(const Intervals *v, const Ins *i) {
  Interval r = ir_interval(v, i);
  return -r.lo > r.hi ? -r.lo : r.hi;
}

/* How often a block of the loops runs at most. */
static IrWide runs(const Recurrence *c, const Block *b) {
  const SmallLoop *all = &c->range.loop;
  IrWide n = 1;
  for (unsigned k = 0; k < all->n; k++)
    for (uint32_t p = 0; p < all->blocks[k]->preds.len; p++) {
      Block *header = all->blocks[k], *latch = header->preds.data[p];
      if (n < IR_MOST_STEPS && ir_dominates(header, latch) &&
          is_in_loop_of(c->range.of->cx, c->range.of->fn, b, header, latch))
        n *= ir_trips(c->then, header) + 1;
    }
  return n;
}

/* The innermost loop that b is in begins there. */
static const Block *innermost(const Recurrence *c, const Block *b) {
  const SmallLoop *all = &c->range.loop;
  const Block *most = all->blocks[0];
  for (unsigned k = 0; k < all->n; k++)
    for (uint32_t p = 0; p < all->blocks[k]->preds.len; p++) {
      Block *header = all->blocks[k], *latch = header->preds.data[p];
      if (header->rpo > most->rpo && ir_dominates(header, latch) &&
          is_in_loop_of(c->range.of->cx, c->range.of->fn, b, header, latch))
        most = header;
    }
  return most;
}

static bool is_local(const Ins *i) {
  return i->nargs && i->args[0]->type->id == TY_ARRAY && i->args[0]->type->space == SPACE_LOCAL;
}

/* Do the local arrays become registers by unrolling, in either version? Rings (local_rings.c) are
 * found where a loop is the only one over its array. */
static bool keeps_registers(const Recurrence *c) {
  const Intervals *now = ssa_intervals_of(c->range.of);
  for (unsigned k = 0; k < c->range.loop.n; k++)
    FOR_INS (c->range.loop.blocks[k], i) {
      bool known = true;
      for (uint32_t n = 1; n < i->nargs && is_local(i); n++)
        known &= i->args[n]->op == OP_CONST || (i->op == OP_STORE && n + 1 == i->nargs);
      if (!known && ir_trips(now, innermost(c, i->block)) > MOST_UNROLLED)
        return false;
    }
  return true;
}

static bool stays_short(const Recurrence *c) {
  IrWide steps = 0;
  for (unsigned k = 0; k < c->range.loop.n; k++) {
    IrWide times = runs(c, c->range.loop.blocks[k]);
    FOR_INS (c->range.loop.blocks[k], i) {
      if (!is_sum(i) || !c->of[i->id])
        continue;
      if (c->goes_on[i->id])
        steps += times * reach(c->then, i->args[is_small_step(c, i, 1)]);
    }
  }
  return FIRST + steps + ANY_LAST <= MOST;
}

/* --- what for --- */

static bool reads_short(const Recurrence *c, const Ins *i) {
  bool all = true;
  for (uint32_t k = 0; k < i->nargs && all; k++)
    all = c->of[i->args[k]->id] || ir_is_within(c->then, i->args[k], int32);
  return all;
}

static bool gains(const Recurrence *c) {
  const Intervals *now = ssa_intervals_of(c->range.of);
  unsigned n = 0;
  for (unsigned k = 0; k < c->range.loop.n; k++)
    FOR_INS (c->range.loop.blocks[k], i)
      n += ir_is_compare(i) && ssa_is_slow(i) && !ir_reads_within(now, i, int32) &&
           reads_short(c, i);
  return n >= LEAST;
}

/* Asked first, since the intervals of a function cost time. */
static bool has_choices(const Recurrence *c) {
  unsigned n = 0;
  bool sums = false;
  for (unsigned k = 0; k < c->range.loop.n; k++)
    FOR_INS (c->range.loop.blocks[k], i) {
      n += ir_is_compare(i) && ssa_is_slow(i);
      sums |= is_sum(i) && ssa_is_int64(i->type);
    }
  return sums && n > LEAST;
}

static void find_uses(Recurrence *c) {
  Fn *fn = c->range.of->fn;
  c->goes_on = CX_ARRAY(c->range.of->cx, bool, fn->next_id);
  FOR_BLOCKS (fn, b)
    FOR_INS (b, i)
      for (uint32_t k = 0; k < i->nargs && !ir_is_compare(i); k++)
        c->goes_on[i->args[k]->id] = true;
}

static bool suppose(Recurrence *c) {
  Versions *of = c->range.of;
  if (of->tries++ >= MAX_TRIES)
    return false;
  uint8_t *bits = CX_ARRAY(of->cx, uint8_t, of->fn->next_id);
  for (unsigned k = 0; k < c->nasked; k++)
    bits[c->asked[k].ins->id] = c->asked[k].bits;
  c->then = ir_intervals_if(of->cx, of->fn, bits);
  c->of = CX_ARRAY(of->cx, bool, of->fn->next_id);
  find_values(c);
  return gains(c) && stays_short(c);
}

static bool read_recurrence(Recurrence *c, Block *header, Block *latch) {
  Range *r = &c->range;
  r->latch = latch;
  if (!ssa_any_nest(&r->loop, header, latch) || !ssa_is_short(&r->loop, MAX_SIZE) ||
      !ssa_read_header(r, header) || !has_choices(c) || !keeps_registers(c))
    return false;
  find_uses(c);
  return ask_trips(c) && ask_steps(c) && c->nasked && suppose(c);
}

/* --- writing --- */

/* Blocks of their own on the edges out of the loops: such as are there, and new ones. */
typedef struct Exits {
  Block *blocks[MAX_EXITS];
  unsigned n;
  Block *join; /* to which they lead, and nothing else does; or NULL */
} Exits;

static bool split_exits(Cx *cx, Fn *fn, const Range *r, Exits *x) {
  for (unsigned k = 0; k < r->loop.n; k++)
    for (int s = 0; s < 2; s++) {
      Block *b = r->loop.blocks[k], *to = b->succ[s];
      if (!to || ssa_in_loop(&r->loop, to))
        continue;
      if (x->n == MAX_EXITS || b->succ[0] == b->succ[1])
        return false;
      bool own = to->preds.len == 1 && to->last->op == OP_BR;
      x->blocks[x->n++] = own ? to : ssa_split_edge(cx, fn, b, to);
    }
  return true;
}

static bool is_exit(const Exits *x, const Block *b) {
  unsigned k = 0;
  while (k < x->n && x->blocks[k] != b)
    k++;
  return k < x->n;
}

static void find_join(Exits *x) {
  x->join = x->blocks[0]->succ[0];
  for (uint32_t k = 0; x->join && k < x->join->preds.len; k++)
    if (!is_exit(x, x->join->preds.data[k]))
      x->join = NULL;
}

/* What reads a value of the loops behind them, and the exit, or the join, that it comes by. */
typedef struct Reader {
  Ins *user;
  uint32_t k;
  Block *by;
} Reader;
typedef VEC(Reader) Readers;

static Block *way_to(const Exits *x, const Block *b) {
  for (unsigned k = 0; k < x->n; k++)
    if (ir_dominates(x->blocks[k], b))
      return x->blocks[k];
  return x->join && ir_dominates(x->join, b) ? x->join : NULL;
}

/* False: it is not known by what one comes. */
static bool find_readers(Cx *cx, Fn *fn, const Range *r, const Exits *x, Readers *all) {
  FOR_BLOCKS (fn, b) {
    if (ssa_in_loop(&r->loop, b))
      continue;
    FOR_INS (b, i)
      for (uint32_t k = 0; k < i->nargs; k++) {
        const Ins *a = i->args[k];
        if (!a->block || !ssa_in_loop(&r->loop, a->block))
          continue;
        Reader reader = {i, k, way_to(x, i->op == OP_PHI ? b->preds.data[k] : b)};
        if (!reader.by)
          return false;
        VEC_PUSH(&cx->arena, all, reader);
      }
  }
  return true;
}

/* The value in that exit, of either version: a phi. */
static Ins *merged(Cx *cx, Fn *fn, Block *exit, Ins *a) {
  for (Ins *phi = exit->first; phi->op == OP_PHI; phi = phi->next)
    if (phi->args[0] == a)
      return phi;
  Ins *phi = ir_ins(cx, fn, OP_PHI, a->type, a->loc, (Ins *[]){a, a->note}, 2);
  phi->flags = a->flags & INS_NONNEGATIVE;
  phi->name = a->name;
  ir_insert_phi(exit, phi);
  return phi;
}

/* The same in the join, of all exits. */
static Ins *joined(Cx *cx, Fn *fn, const Exits *x, Ins *a) {
  Ins *phi = ir_ins(cx, fn, OP_PHI, a->type, a->loc, NULL, 0);
  phi->flags = a->flags & INS_NONNEGATIVE;
  phi->name = a->name;
  for (uint32_t k = 0; k < x->join->preds.len; k++)
    ir_add_arg(cx, phi, merged(cx, fn, x->join->preds.data[k], a));
  ir_insert_phi(x->join, phi);
  return phi;
}

/* Once for each value. */
static Ins *value_by(Cx *cx, Fn *fn, const Exits *x, const Reader *r, Ins **values) {
  Ins *a = r->user->args[r->k];
  if (r->by != x->join)
    return merged(cx, fn, r->by, a);
  if (!values[a->id])
    values[a->id] = joined(cx, fn, x, a);
  return values[a->id];
}

/* From `at` to `fast` if all fit what is asked. */
static void choose(Cx *cx, Fn *fn, const Recurrence *c, Block *at, Block *fast, Block *general) {
  const Range *r = &c->range;
  for (unsigned k = 0; k < c->nasked; k++) {
    int64_t least = -((int64_t)1 << c->asked[k].bits);
    Ins *i = ssa_in_front(cx, fn, r, at, c->asked[k].ins, NULL);
    Block *above = ir_block(cx, fn), *next = k + 1 == c->nasked ? fast : ir_block(cx, fn);
    ssa_choose(cx, fn, r, at, i, OP_GE, least, above, general);
    ssa_choose(cx, fn, r, above, i, OP_LT, -least, next, general);
    at = next;
  }
}

/* As narrow.c marks what fits int32 by itself. */
static void mark(const Recurrence *c) {
  for (unsigned k = 0; k < c->range.loop.n; k++)
    FOR_INS (c->range.loop.blocks[k], i) {
      if (ins_is_term(i))
        continue;
      Ins *copy = i->note;
      bool value = c->of[i->id] && ssa_is_int64(i->type);
      bool computed = is_sum(i) || i->op == OP_NEG ? value : ir_is_compare(i) && ssa_is_slow(i);
      copy->flags |= value ? INS_I32 : 0;
      copy->flags |= computed && reads_short(c, i) ? INS_OF_I32 : 0;
    }
}

/* False: it is left as it was. */
static bool write_recurrence(Cx *cx, Fn *fn, const Recurrence *c) {
  const Range *r = &c->range;
  Block *header = r->loop.blocks[0];
  Exits x = {0};
  Readers readers = {0};
  bool split = split_exits(cx, fn, r, &x);
  find_join(&x);
  ir_order(cx, fn);
  ir_dominators(cx, fn);
  if (!split || !find_readers(cx, fn, r, &x, &readers))
    return false;
  Block *before = header->preds.data[header->preds.data[0] == r->latch];
  Block *entry = ssa_split_edge(cx, fn, before, header);
  Block *fast = ir_block(cx, fn), *general = ir_block(cx, fn);
  const Type *type = header->last->type;
  ssa_copy_blocks(cx, fn, r);
  mark(c);
  VEC(Ins *) values = {0};
  for (Ins *phi = header->first; phi->op == OP_PHI; phi = phi->next)
    VEC_PUSH(&cx->arena, &values, ssa_from_edge(phi, entry));
  ir_remove(entry->last);
  ir_unlink(entry, header);
  choose(cx, fn, c, entry, fast, general);
  ir_br(cx, fn, general, header, r->less->loc)->type = type;
  uint32_t n = 0;
  for (Ins *phi = header->first; phi->op == OP_PHI; phi = phi->next)
    ir_add_arg(cx, phi, values.data[n++]);
  ir_br(cx, fn, fast, ssa_copy_of_block(header), r->less->loc)->type = type;
  ssa_copy_branches(cx, fn, r);
  ssa_copy_phis(r, general, fast);
  Ins **joins = CX_ARRAY(cx, Ins *, fn->next_id);
  for (uint32_t k = 0; k < readers.len; k++)
    readers.data[k].user->args[readers.data[k].k] = value_by(cx, fn, &x, &readers.data[k], joins);
  if (!ssa_has_local_array(r)) /* they become registers where loops over them are unrolled */
    ssa_roll_nest(r);
  return true;
}

/* Has it been written: is it one of the two versions? */
static bool is_written(const Block *header, Block *const *written, unsigned n) {
  unsigned k = 0;
  while (k < n && written[k] != header)
    k++;
  return k < n;
}

void cg_version_recurrences(Cx *cx, Fn *fn) {
  Versions of = {.cx = cx, .fn = fn};
  Block *written[2 * MAX_TRIES];
  for (unsigned n = 0;;) {
    Recurrence c;
    bool found = false;
    FOR_BLOCKS (fn, latch)
      for (int s = 0; s < 2 && !found; s++) {
        c = (Recurrence){.range = {.of = &of, .known = true}};
        found = latch->succ[s] && !is_written(latch->succ[s], written, n) &&
                !(latch->last->flags & INS_ROLLED) && read_recurrence(&c, latch->succ[s], latch);
      }
    if (!found)
      return;
    Block *header = written[n++] = c.range.loop.blocks[0];
    if (write_recurrence(cx, fn, &c))
      written[n++] = ssa_copy_of_block(header);
    ir_drop_dead(cx, fn);
    ir_order(cx, fn);
    ir_dominators(cx, fn);
    of.intervals = NULL;
  }
}
