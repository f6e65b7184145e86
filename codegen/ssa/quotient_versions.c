/* Quotient versions: loops that multiply and divide what they carry along, of which nothing says
 * that it fits 32 bits, written twice.
 *
 *   while a != 2 * root:
 *     m = d * a - m
 *     d = (n - m * m) // d
 *     a = (root + m) // d
 *
 * The theory of numbers bounds such values, and no interval does: Euclid's algorithm with the
 * numbers of its steps, continued fractions. But they are small for nearly all that is passed,
 * which a test of each asks where it is computed:
 *
 *   if root < 2**30:
 *     while a != 2 * root:
 *       m' = d * a - m; if not -2**15 <= m' < 2**15: break
 *       x = n - m' * m'; if x < 0: break
 *       …                            # in 32 bits
 *   while a != 2 * root: …           # rolled: from where the first version has stopped
 *
 * The second loop follows the first one always, and begins anew the iteration in which the first
 * has stopped, for whatever reason: so that iteration must have done nothing yet. Each way out of
 * the loop is one of the second version.
 *
 * What divides is asked whether it is positive, and what is divided whether it has no sign: a
 * division of 32 bits without one is the shortest. The intervals, computed once more as if all that
 * fit, say whether it pays: each division must fit 32 bits then. Of quotients by what the loop does
 * not change, as those of `x * y % n`, the numbers are as large as n, whatever that is: not those.
 *
 * In: a strict Fn in order, with a single back edge a loop, and dominators. Out: the same. */
#include "codegen/ssa/range_private.h"
#include "codegen/ssa/range_versions.h"
#include "ir/cfg.h"

enum {
  MAX_SIZE = 60,   /* operations of a loop that is written twice */
  MAX_DEPTH = 8,   /* of a divisor */
  MAX_ASKED = 12,  /* in a loop, and in front of it */
  MAX_LOOPS = 16,  /* of a function */
  MAX_TRIES = 4,   /* of a function, whose intervals are computed for each */
  INT32_BITS = 31,
  FACTOR_BITS = 15 /* of what is multiplied: the sum of two products fits 32 */
};

static const Interval int32 = {INT32_MIN, INT32_MAX};

typedef struct Asked {
  Ins *ins;      /* computed in each iteration, or in front of the loop */
  unsigned bits; /* 0: it is asked for its sign alone */
  int64_t least; /* -1: as many bits as above it */
} Asked;

typedef struct Quotients {
  Range range;
  Asked asked[MAX_ASKED];
  unsigned n;
} Quotients;

static bool is_inside(const Range *r, const Ins *i) {
  return i->block && ssa_in_loop(&r->loop, i->block);
}

static bool is_carried(const Range *r, const Ins *i) {
  return i->op == OP_PHI && i->block == r->loop.blocks[0];
}

static bool fits(const Range *r, const Ins *i) {
  return ir_is_within(ssa_intervals_of(r->of), i, int32);
}

static bool is_division(const Ins *i) {
  return (i->op == OP_FLOORDIV || i->op == OP_MOD) && ssa_is_slow(i);
}

/* --- the form of the loop --- */

static Effect effect_of(const Ins *i) {
  if (i->op == OP_INTRINSIC)
    return ir_intrinsics[i->aux.intrinsic].effect;
  return ir_op_info[i->op].effect;
}

static bool has_effect(const Ins *i) {
  Effect e = effect_of(i);
  return e != EFFECT_PURE && e != EFFECT_READ && e != EFFECT_PHI && e != EFFECT_TERM;
}

static bool comes_before(const Ins *a, const Ins *b) {
  if (a->block != b->block)
    return a->block->rpo < b->block->rpo;
  while (b && b != a)
    b = b->prev;
  return b;
}

static bool leaves(const Range *r, const Block *b) {
  for (int s = 0; s < 2; s++)
    if (b->succ[s] && !ssa_in_loop(&r->loop, b->succ[s]))
      return true;
  return false;
}

/* Has an iteration done nothing wherever it is left? */
static bool can_begin_anew(const Quotients *q) {
  const Range *r = &q->range;
  for (unsigned k = 0; k < r->loop.n; k++)
    FOR_INS (r->loop.blocks[k], i) {
      if (!has_effect(i))
        continue;
      for (unsigned n = 0; n < q->n; n++)
        if (is_inside(r, q->asked[n].ins) && comes_before(i, q->asked[n].ins))
          return false;
      if (i->block == r->loop.blocks[0])
        return false;
      for (unsigned n = 0; n < r->loop.n; n++)
        if (leaves(r, r->loop.blocks[n]) && comes_before(i, r->loop.blocks[n]->last))
          return false;
    }
  return true;
}

static bool read_form(Range *r, Block *header, Block *latch) {
  if (!ssa_any_nest(&r->loop, header, latch) || r->loop.n > SMALL_LOOP_BLOCKS ||
      !ssa_read_header(r, header) || !ssa_is_short(&r->loop, MAX_SIZE))
    return false;
  for (unsigned k = 1; k < r->loop.n; k++)
    if (ssa_is_header(r->loop.blocks[k]))
      return false;
  return true;
}

/* Is it computed of what the loop carries along, and not loaded? */
static bool is_made_of_carried(const Range *r, const Ins *i, unsigned depth) {
  if (!depth || !is_inside(r, i) || effect_of(i) == EFFECT_READ)
    return false;
  for (uint32_t k = 0; k < i->nargs; k++)
    if (is_carried(r, i) || is_made_of_carried(r, i->args[k], depth - 1))
      return true;
  return false;
}

/* Asked first, since the intervals of a function cost time: has it a product, and only such
 * divisions as are by what it changes? */
static bool has_quotients(const Range *r) {
  bool product = false, quotient = false;
  for (unsigned k = 0; k < r->loop.n; k++)
    FOR_INS (r->loop.blocks[k], i) {
      product |= i->op == OP_MUL && ssa_is_int64(i->type);
      quotient |= is_division(i);
      if (is_division(i) && !is_made_of_carried(r, i->args[1], MAX_DEPTH))
        return false;
    }
  return product && quotient;
}

/* --- what is asked --- */

static Interval room_of(unsigned bits, int64_t least) {
  IrWide end = bits ? (IrWide)1 << bits : (IrWide)INT64_MAX + 1;
  return (Interval){least < 0 ? -end : least, end - 1};
}

static Asked *asked_of(Quotients *q, const Ins *i) {
  for (unsigned k = 0; k < q->n; k++)
    if (q->asked[k].ins == i)
      return &q->asked[k];
  return NULL;
}

/* False: there is no room. */
static bool ask(Quotients *q, Ins *i, unsigned bits, int64_t least) {
  Asked *a = asked_of(q, i);
  if (ir_is_within(ssa_intervals_of(q->range.of), i, room_of(bits, least)))
    return true;
  if (!a && q->n == MAX_ASKED)
    return false;
  if (!a)
    *(a = &q->asked[q->n++]) = (Asked){i, bits, least};
  a->bits = bits && (!a->bits || bits < a->bits) ? bits : a->bits;
  a->least = least > a->least ? least : a->least;
  return true;
}

/* What the loop multiplies, what it carries along and divides by, and numbers from in front. */
static bool ask_operands(Quotients *q) {
  const Range *r = &q->range;
  for (unsigned k = 0; k < r->loop.n; k++)
    FOR_INS (r->loop.blocks[k], i)
      for (uint32_t n = 0; i->op != OP_PHI && n < i->nargs; n++) {
        Ins *a = i->args[n];
        bool factor = i->op == OP_MUL && !fits(r, i), divides = is_division(i) && n;
        if (ssa_is_int64(a->type) &&
            (factor || (divides && is_carried(r, a)) || (!is_inside(r, a) && !fits(r, a))) &&
            !ask(q, a, factor ? FACTOR_BITS : TY_SMALL_BITS, divides ? 1 : -1))
          return false;
      }
  return true;
}

/* What it carries along, unless it is asked where it is computed. */
static bool ask_carried(Quotients *q) {
  const Range *r = &q->range;
  for (Ins *phi = r->loop.blocks[0]->first; phi->op == OP_PHI; phi = phi->next) {
    Ins *next = ssa_from_edge(phi, r->latch), *first = phi->args[phi->args[0] == next];
    const Asked *a = asked_of(q, next);
    Counter c;
    bool known = !ssa_is_int64(phi->type) || fits(r, phi) || ir_counter(phi, &c) ||
                 (a && a->bits && !is_carried(r, next) && fits(r, first));
    if (!known && !ask(q, phi, TY_SMALL_BITS, -1))
      return false;
  }
  return true;
}

/* --- what for --- */

static Intervals *intervals_then(const Quotients *q) {
  const Range *r = &q->range;
  uint8_t *bits = CX_ARRAY(r->of->cx, uint8_t, r->of->fn->next_id);
  for (unsigned k = 0; k < q->n; k++)
    bits[q->asked[k].ins->id] =
        (uint8_t)(q->asked[k].bits | (q->asked[k].least < 0 ? 0 : IR_NO_SIGN));
  return ir_intervals_if(r->of->cx, r->of->fn, bits);
}

/* Operands of divisions that do not fit then, and signs of those that do. */
static bool ask_divided(Quotients *q, const Intervals *then) {
  const Range *r = &q->range;
  for (unsigned k = 0; k < r->loop.n; k++)
    FOR_INS (r->loop.blocks[k], i)
      for (unsigned n = 0; n < 2 && is_division(i); n++) {
        bool fit = ir_is_within(then, i->args[n], int32);
        if ((!fit || ir_interval(then, i->args[n]).lo < n) &&
            !ask(q, i->args[n], fit ? 0 : INT32_BITS, n))
          return false;
      }
  return true;
}

/* Does each division, by what does not fit now, fit then? */
static bool gains(Quotients *q) {
  const Range *r = &q->range;
  if (r->of->tries++ >= MAX_TRIES || !ask_divided(q, intervals_then(q)))
    return false;
  const Intervals *now = ssa_intervals_of(r->of), *then = intervals_then(q);
  for (unsigned k = 0; k < r->loop.n; k++)
    FOR_INS (r->loop.blocks[k], i)
      if (is_division(i) &&
          (ir_is_within(now, i->args[1], int32) || !ir_reads_within(then, i, int32)))
        return false;
  return true;
}

static bool read_quotients(Quotients *q, Block *header, Block *latch) {
  Range *r = &q->range;
  r->latch = latch;
  return read_form(r, header, latch) && has_quotients(r) && ask_operands(q) && ask_carried(q) && gains(q) &&
         can_begin_anew(q);
}

/* --- writing --- */

/* From `at` to `yes` if it is what is asked, else to `no`. */
static void choose(const Range *r, const Asked *a, Block *at, Ins *i, Block *yes, Block *no) {
  Cx *cx = r->of->cx;
  Fn *fn = r->of->fn;
  int64_t end = (int64_t)1 << a->bits;
  Block *above = a->bits ? ir_block(cx, fn) : yes;
  ssa_choose(cx, fn, r, at, i, OP_GE, a->least < 0 ? -end : a->least, above, no);
  if (a->bits)
    ssa_choose(cx, fn, r, above, i, OP_LT, end, yes, no);
}

/* Of what is carried along at the end of the header, else where it is computed. */
static void choose_behind(const Range *r, const Asked *a, Block *leave) {
  Ins *copy = a->ins->note, *next = copy->next;
  while (is_carried(r, a->ins) ? !ins_is_term(next) : next->op == OP_PHI)
    next = next->next;
  Block *at = copy->block, *rest = ir_split(r->of->cx, r->of->fn, next);
  choose(r, a, at, copy, rest, leave);
}

/* Ways out lead to `leave`. */
static void copy_branches(const Range *r, Block *leave) {
  for (unsigned k = 0; k < r->loop.n; k++) {
    const Block *b = r->loop.blocks[k];
    Block *to[2], *from = ssa_copy_of_block(b);
    const Ins *end = b->last;
    for (int s = 0; s < 2 && b->succ[s]; s++)
      to[s] = ssa_in_loop(&r->loop, b->succ[s]) ? ssa_copy_of_block(b->succ[s]) : leave;
    Ins *c = NULL;
    if (end->op == OP_BR)
      c = ir_br(r->of->cx, r->of->fn, from, to[0], end->loc);
    else
      c = ir_condbr(r->of->cx, r->of->fn, from,
                    is_inside(r, end->args[0]) ? end->args[0]->note : end->args[0], to[0], to[1],
                    end->loc);
    c->type = end->type;
    c->flags = end->flags;
  }
}

static void write_quotients(Cx *cx, Fn *fn, const Quotients *q) {
  const Range *r = &q->range;
  Block *header = r->loop.blocks[0];
  Block *before = header->preds.data[header->preds.data[0] == r->latch];
  Block *entry = ssa_split_edge(cx, fn, before, header), *front = ir_block(cx, fn), *at = front;
  Block *fast = ir_block(cx, fn), *leave = ir_block(cx, fn);
  const Type *type = header->last->type;
  Loc loc = r->less->loc;
  for (unsigned k = 0; k < q->n; k++)
    if (!is_inside(r, q->asked[k].ins)) {
      Block *next = ir_block(cx, fn);
      choose(r, &q->asked[k], at, q->asked[k].ins, next, leave);
      at = next;
    }
  ir_br(cx, fn, at, fast, loc)->type = type;
  uint32_t in_front = leave->preds.len;

  ssa_copy_blocks(cx, fn, r);
  ir_br(cx, fn, fast, ssa_copy_of_block(header), loc)->type = type;
  copy_branches(r, leave);
  ssa_copy_phis(r, entry, fast);
  for (unsigned k = 0; k < q->n; k++)
    if (is_inside(r, q->asked[k].ins))
      choose_behind(r, &q->asked[k], leave);

  ir_remove(entry->last);
  ir_unlink(entry, header);
  ir_br(cx, fn, entry, front, loc)->type = type;
  ssa_lead_back(cx, fn, r, fast, leave, in_front);
}

void cg_version_quotients(Cx *cx, Fn *fn) {
  VEC(Quotients) all = {0};
  Versions of = {.cx = cx, .fn = fn};
  FOR_BLOCKS (fn, latch)
    for (int s = 0; s < 2; s++) {
      Quotients q = {.range = {.of = &of, .known = true}};
      if (all.len < MAX_LOOPS && latch->succ[s] && !(latch->last->flags & INS_ROLLED) &&
          read_quotients(&q, latch->succ[s], latch))
        VEC_PUSH(&cx->arena, &all, q);
    }
  if (!all.len)
    return;
  for (uint32_t k = 0; k < all.len; k++)
    write_quotients(cx, fn, &all.data[k]);
  ir_settle(fn);
  ir_drop_dead(cx, fn);
  ir_order(cx, fn);
  ir_dominators(cx, fn);
}
