/* Table versions: short loops whose indices are sums with the elements of a table, in another loop.
 *
 *   for k in range(length):
 *     power = int(log[data[k]])
 *     for j in range(16):
 *       rest[j] ^= exp[power + generator[j]]
 *
 * Of a sum with a number that was read nothing is known, so each index is wrapped. But the elements
 * are the same in each iteration of the outer loop, and nearly always none is negative, which one
 * test in front of that loop asks:
 *
 *   if generator.size >= 16 and generator[0] | … | generator[15] >= 0:
 *     for k in range(length): …      # no such index is wrapped
 *   else:
 *     for k in range(length): …
 *
 * The test reads what the loops may not, which is why it asks for the size first. All threads that
 * read one table choose alike. The outer loop must leave memory that arrays share as it is: then no
 * other thread may write to the table meanwhile either, since nothing in the loop waits for it.
 *
 * In and out: as of range_versions.c, which writes the loops. */
#include "codegen/ssa/range_private.h"
#include "codegen/ssa/range_versions.h"
#include "ir/cfg.h"

enum {
  MAX_SIZE = 60,    /* operations of the inner loop */
  MAX_AROUND = 160, /* of both */
  MAX_TRIPS = 32,   /* of the inner loop */
  LEAST_TRIPS = 4,
  MOST = 1 << 30
};

/* --- the inner loop --- */

static bool constant(const Ins *i, int64_t *n) {
  return i->op == OP_CONST && fz_get_int(i->aux.frozen, n);
}

/* A few iterations known when compiling, from 0 or more on. */
static bool is_short(const Range *r) {
  int64_t start, stop;
  return constant(r->start, &start) && constant(r->stop, &stop) && start >= 0 &&
         stop - start >= LEAST_TRIPS && stop - start <= MAX_TRIPS;
}

/* Does `to` hold all numbers of that type? */
static bool holds(const Type *to, const Type *from) {
  if (ty_kind(from) != KIND_INT || ty_kind(to) != KIND_INT)
    return false;
  return ty_is_signed(from) == ty_is_signed(to) ? ty_bits(to) >= ty_bits(from)
                                                : ty_is_signed(to) && ty_bits(to) > ty_bits(from);
}

/* What is the same number before casts. */
static const Ins *without_casts(const Ins *i) {
  while (i->op == OP_CAST && holds(i->type, i->args[0]->type))
    i = i->args[0];
  return i;
}

/* Is it the element of a table at the counter? */
static bool is_element(const Range *r, const Ins *i) {
  if (i->op != OP_LOAD || i->nargs != 2 || !ssa_in_loop(&r->loop, i->block))
    return false;
  const Ins *table = i->args[0];
  const Type *t = table->type;
  return table->op == OP_PARAM && t->id == TY_ARRAY && t->ndim == 1 && t->space == SPACE_GLOBAL &&
         i->aux.i == HINT_NONE && ty_kind(i->type) == KIND_INT &&
         without_casts(ssa_unwrapped(i->args[1])) == r->counter &&
         (!r->table || r->table->args[0] == table);
}

/* A sum of one and of what is not negative, which fits 32 bits if both are below MOST. */
static Ins *element_of(const Range *r, const Ins *index) {
  bool sum = index->op == OP_ADD && ty_is_signed(index->type) && ty_bits(index->type) >= 32;
  for (unsigned k = 0; k < 2 && sum; k++) {
    const Ins *element = without_casts(index->args[k]);
    Interval other = ir_interval_at(ssa_intervals_of(r->of), index->args[!k], index->block);
    if (is_element(r, element) && other.lo >= 0 && other.hi <= MOST)
      return (Ins *)element;
  }
  return NULL;
}

static void read_wraps(Range *r) {
  for (unsigned k = 1; k < r->loop.n; k++)
    FOR_INS (r->loop.blocks[k], i) {
      Ins *element = i->op == OP_WRAP_INDEX && r->nchecks < MAX_CHECKS
                         ? element_of(r, without_casts(i->args[0]))
                         : NULL;
      if (!element)
        continue;
      r->table = element;
      r->checks[r->nchecks++] = i;
    }
}

/* --- the loop around it --- */

/* Does it leave arrays of the grid as they are, and wait for nobody? */
static bool is_tame(const Ins *i) {
  Effect e = i->op == OP_INTRINSIC ? (Effect)ir_intrinsics[i->aux.intrinsic].effect
                                   : (Effect)ir_op_info[i->op].effect;
  if (i->op == OP_STORE)
    return i->args[0]->type->space == SPACE_SHARED || i->args[0]->type->space == SPACE_LOCAL;
  return i->op != OP_CALL_FN && i->op != OP_CALL_C &&
         (e == EFFECT_PURE || e == EFFECT_READ || e == EFFECT_PHI || e == EFFECT_TERM);
}

/* The blocks of the loop of that back edge, with the loops in it; false if there are too many, or
 * it is left other than from its header. */
static bool collect(SmallLoop *loop, Block *header, Block *latch) {
  *loop = (SmallLoop){{header, latch}, 2};
  for (unsigned at = 1; at < loop->n; at++)
    for (uint32_t k = 0; k < loop->blocks[at]->preds.len; k++) {
      Block *from = loop->blocks[at]->preds.data[k];
      if (ssa_in_loop(loop, from))
        continue;
      if (loop->n == SMALL_LOOP_BLOCKS)
        return false;
      loop->blocks[loop->n++] = from;
    }
  for (unsigned k = 1; k < loop->n; k++)
    for (int s = 0; s < 2; s++)
      if (loop->blocks[k]->succ[s] && !ssa_in_loop(loop, loop->blocks[k]->succ[s]))
        return false;
  return true;
}

/* Is it computed in the loop from what is read there, as far as one can see? */
static bool is_read(const SmallLoop *loop, const Ins *i, unsigned depth) {
  if (!i->block || !ssa_in_loop(loop, i->block) || i->op == OP_CONST || i->op == OP_EXTENT)
    return false;
  bool read = !depth || i->op == OP_PHI || ir_op_info[i->op].effect != EFFECT_PURE;
  for (uint32_t k = 0; k < i->nargs && !read; k++)
    read = is_read(loop, i->args[k], depth - 1);
  return read;
}

/* Does a loop that begins there, if one does, count towards a number that is not read in it? Others
 * may wait until another thread has written something. */
static bool counts(const SmallLoop *loop, const Block *header) {
  enum { DEPTH = 4 };
  bool counter = false;
  for (const Ins *phi = header->first; phi && phi->op == OP_PHI && !counter; phi = phi->next) {
    Counter c;
    counter = ir_counter(phi, &c) && c.next->op == OP_ADD && !c.down &&
              !is_read(loop, c.step, DEPTH) && !is_read(loop, c.stop, DEPTH);
  }
  for (uint32_t k = 0; k < header->preds.len && !counter; k++)
    if (ssa_in_loop(loop, header->preds.data[k]) && ir_dominates(header, header->preds.data[k]))
      return false;
  return true;
}

static bool is_all_tame(const SmallLoop *loop) {
  unsigned size = 0;
  for (unsigned k = 0; k < loop->n; k++) {
    if (!counts(loop, loop->blocks[k]))
      return false;
    FOR_INS (loop->blocks[k], i)
      if (!is_tame(i) || ++size > MAX_AROUND)
        return false;
  }
  return true;
}

/* The outermost loop around that one in which the table stays. */
static bool read_around(Range *r, const Block *inner) {
  Range found = {0};
  FOR_BLOCKS (r->of->fn, latch)
    for (int s = 0; s < 2; s++) {
      Block *header = latch->succ[s];
      Range a = *r;
      a.latch = latch;
      if (header && header != inner && header != latch && header->rpo <= latch->rpo &&
          ir_dominates(header, latch) && collect(&a.loop, header, latch) &&
          ssa_in_loop(&a.loop, inner) && a.loop.n > found.loop.n && is_all_tame(&a.loop) &&
          ssa_read_header(&a, header))
        found = a;
    }
  if (found.loop.n)
    *r = found;
  return found.loop.n;
}

static bool read_table(Range *r, Block *header, Block *latch) {
  Range inner = {.of = r->of};
  if (!ssa_read_upward(&inner, header, latch, MAX_SIZE) || !is_short(&inner))
    return false;
  read_wraps(&inner);
  *r = inner;
  r->signs = true;
  return r->nchecks && read_around(r, header);
}

/* --- the test in front --- */

static Ins *element(Cx *cx, Fn *fn, const Range *r, Block *at, int64_t k) {
  Ins *index = ir_const(cx, fn, fz_int(cx, k), r->counter->type, r->less->loc);
  Ins *e = ir_ins(cx, fn, OP_LOAD, r->table->type, r->table->loc,
                  (Ins *[]){r->table->args[0], index}, 2);
  index->flags |= INS_NONNEGATIVE;
  e->aux = r->table->aux;
  ir_append(at, index);
  ir_append(at, e);
  return e;
}

/* Has the table so many elements, and is each from 0 to MOST? All bits of them say that. */
void ssa_choose_by_table(Cx *cx, Fn *fn, const Range *r, Block *at, Block *fast, Block *general) {
  int64_t start, stop;
  Block *read = ir_block(cx, fn), *below = ir_block(cx, fn);
  CX_ASSERT(cx, constant(r->start, &start) && constant(r->stop, &stop));
  ssa_choose(cx, fn, r, at, ssa_extent_of(cx, fn, r, at, r->table->args[0], 0), OP_GE, stop, read,
             general);
  Ins *all = element(cx, fn, r, read, start);
  for (int64_t k = start + 1; k < stop; k++)
    all = ssa_append(cx, fn, r, read, OP_OR, all->type, all, element(cx, fn, r, read, k));
  all = ir_ins(cx, fn, OP_CAST, r->counter->type, r->less->loc, &all, 1);
  ir_append(read, all);
  ssa_choose(cx, fn, r, read, all, OP_GE, 0, below, general);
  ssa_choose(cx, fn, r, below, all, OP_LT, MOST, fast, general);
}

void cg_version_tables(Cx *cx, Fn *fn) { ssa_version(cx, fn, read_table); }
