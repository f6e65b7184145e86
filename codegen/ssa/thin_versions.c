/* Thin versions: windows that are clipped at both ends of a row, written twice.
 *
 *   for y in range(max(row - radius, 0), min(row + radius + 1, rows)):
 *     for x in range(max(col - radius, 0), min(col + radius + 1, cols)):
 *       darkest = min(darkest, image[y, x])
 *
 * The inner loop is unrolled, and what is left over is computed under masks, for which each row
 * takes as many instructions as if it had all places that there may be, seven. In an image of one
 * column it has one, with a radius of 1 it has three. The outer loop does not change the range of
 * the inner one, so that a test in front of both asks for that:
 *
 *   if max(col - radius, 0) < min(col + radius + 1, cols) - 3:
 *     for y in …: for x in …: …
 *   else:
 *     for y in …: for x in …: …       # both rolled
 *
 * With a radius of 3 or more such a window is an image's that is so thin. With 2 it is at the edge,
 * in one of a row's warps. A window with a constant radius has few places anyway: there only one
 * place is thin, which is that of an image of one column.
 *
 * In and out: as of range_versions.c, which writes the loops. */
#include "codegen/ssa/range_private.h"
#include "codegen/ssa/range_versions.h"
#include "ir/cfg.h"

enum {
  MAX_SIZE = 60,
  MAX_DEPTH = 8,    /* of a bound */
  MAX_OPERANDS = 3, /* of what is computed in front */
  FEW = 3,          /* places */
  ONE = 1,          /* … of a window with a constant radius */
};

static bool is_inside(const Range *r, const Ins *i) {
  return i->block && ssa_in_loop(&r->loop, i->block);
}

/* Can it be computed in front of the nest, from what is there? */
static bool is_known(const Range *r, const Ins *i, unsigned depth) {
  if (!is_inside(r, i))
    return true;
  TypeKind kind = ty_kind(i->type);
  bool can = depth && i->op != OP_INTRINSIC && ir_op_info[i->op].effect == EFFECT_PURE &&
             i->nargs <= MAX_OPERANDS && (kind == KIND_INT || kind == KIND_BOOL);
  for (uint32_t k = 0; can && k < i->nargs; k++)
    can = is_known(r, i->args[k], depth - 1) || i->op == OP_EXTENT;
  return can;
}

/* The selection that a minimum or maximum is. */
static const Ins *clipped(const Ins *bound) {
  while (bound->op == OP_CAST)
    bound = bound->args[0];
  return bound->op == OP_SELECT ? bound : NULL;
}

/* max(place - distance, 0): how many places a thin window has at most; 0 if it is no window. */
static int64_t few_from(const Ins *start) {
  const Ins *max = clipped(start);
  for (unsigned k = 1; max && k < 3; k++) {
    const Ins *i = max->args[k];
    while (i->op == OP_CAST)
      i = i->args[0];
    if (i->op == OP_SUB)
      return i->args[1]->op == OP_CONST ? ONE : FEW;
  }
  return 0;
}

static bool reads_only(const SmallLoop *loop) {
  bool loads = false;
  for (unsigned k = 0; k < loop->n; k++)
    FOR_INS (loop->blocks[k], i) {
      Effect e = ir_op_info[i->op].effect;
      if (i->op == OP_INTRINSIC ||
          (e != EFFECT_PURE && e != EFFECT_READ && e != EFFECT_PHI && e != EFFECT_TERM))
        return false;
      loads |= i->op == OP_LOAD;
    }
  return loads;
}

/* Is the loop with that header the inner one, over such a window? Notes its range. */
static bool read_window(Range *r, const Block *header, Block *latch) {
  SmallLoop inner;
  Counter c;
  int64_t step;
  if (r->thin_stop || !ssa_small_loop(&inner, (Block *)header, latch) || !reads_only(&inner))
    return false;
  for (const Ins *phi = header->first; phi->op == OP_PHI; phi = phi->next) {
    if (!ir_counter(phi, &c) || c.down || c.closed || c.next->op != OP_ADD ||
        c.step->op != OP_CONST || !fz_get_int(c.step->aux.frozen, &step) || step != 1 ||
        !ssa_is_int64(c.start->type) || c.stop->type != c.start->type || !few_from(c.start) ||
        !clipped(c.stop) || !is_known(r, c.start, MAX_DEPTH) || !is_known(r, c.stop, MAX_DEPTH))
      continue;
    r->thin_start = (Ins *)c.start;
    r->thin_stop = (Ins *)c.stop;
    r->thin_few = few_from(c.start);
    return true;
  }
  return false;
}

static bool read_thin(Range *r, Block *header, Block *latch) {
  *r = (Range){.of = r->of, .latch = latch, .known = true, .nest = true};
  r->end_id = r->of->fn->next_id;
  if (!ssa_small_nest(&r->loop, header, latch) || !ssa_is_short(&r->loop, MAX_SIZE) ||
      !ssa_read_header(r, header))
    return false;
  for (unsigned k = 1; k < r->loop.n; k++)
    for (uint32_t p = 0; p < r->loop.blocks[k]->preds.len; p++) {
      Block *to = r->loop.blocks[k], *from = to->preds.data[p];
      if (ir_dominates(to, from) && !read_window(r, to, from))
        return false;
    }
  return r->thin_stop;
}

void ssa_choose_by_thin(Cx *cx, Fn *fn, const Range *r, Block *at, Block *fast, Block *general) {
  Ins *start = ssa_in_front(cx, fn, r, at, r->thin_start, NULL);
  Ins *stop = ssa_in_front(cx, fn, r, at, r->thin_stop, NULL);
  Ins *few = ir_const(cx, fn, fz_int(cx, r->thin_few), stop->type, r->less->loc);
  ir_append(at, few);
  Ins *last = ssa_append(cx, fn, r, at, OP_SUB, stop->type, stop, few);
  Ins *more = ssa_append(cx, fn, r, at, OP_LT, r->less->type, start, last);
  ir_condbr(cx, fn, at, more, fast, general, r->less->loc)->type = r->loop.blocks[0]->last->type;
}

void cg_version_thin(Cx *cx, Fn *fn) { ssa_version(cx, fn, read_thin); }
