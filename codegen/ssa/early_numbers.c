/* Early numbers: products, and sums of these, that a loop compares and does not change, are
 * computed in front of it.
 *
 *   for a in range(size):
 *     for b in range(size):
 *       y = row * stride - pad + a         first_y = row * stride - pad
 *       x = col * stride - pad + b         first_x = col * stride - pad
 *       if 0 <= y < h and 0 <= x < w: …    for a in …: for b in …: y = first_y + a …
 *
 * LLVM moves them as well, but behind the passes that write loops twice (short_versions.c,
 * range_versions.c), whose tests ask for numbers from in front: nothing says that such a product
 * fits 32 bits, and all that is made of it would have 64.
 *
 * The operations cannot fail and wrap, so it does not matter that they run where the loop does not.
 * What was known of them behind a guard need not hold in front of it: they lose their flags.
 *
 * In: a strict Fn in order, with one back edge a loop and dominators. Out: the same. */
#include "codegen/ssa/range_private.h"
#include "codegen/ssa/range_versions.h"
#include "ir/cfg.h"

enum { MAX_DEPTH = 6 }; /* of an expression */

static const Interval int32 = {INT32_MIN, INT32_MAX};

typedef struct Early {
  Versions of;
  Block *header;
  VEC(Block *) blocks; /* of its loop */
  uint32_t *loop;      /* by the number of a block: the last loop, by its header, that it is in */
} Early;

static bool is_inside(const Early *e, const Ins *i) {
  return i->block && e->loop[i->block->rpo] == e->header->rpo;
}

/* Is it computed from what the loop does not change, by operations that may go in front of it? */
static bool stays(const Early *e, const Ins *i, unsigned depth) {
  if (!is_inside(e, i))
    return true;
  bool moves = i->op == OP_ADD || i->op == OP_SUB || i->op == OP_MUL || i->op == OP_CAST ||
               i->op == OP_CONST;
  if (!depth || !moves || !ssa_is_int64(i->type))
    return false;
  for (uint32_t k = 0; k < i->nargs; k++)
    if (!ssa_is_int64(i->args[k]->type) || !stays(e, i->args[k], depth - 1))
      return false;
  return true;
}

static void move(const Early *e, Ins *i) {
  if (!is_inside(e, i))
    return;
  for (uint32_t k = 0; k < i->nargs; k++)
    move(e, i->args[k]);
  if (i->op != OP_CONST)
    i->flags = 0;
  ir_remove(i);
  ir_insert_before(e->header->idom->last, i);
}

/* v is compared, or a term of what is. */
static void visit(Early *e, Ins *v, unsigned depth) {
  if (!depth || !is_inside(e, v) || !ssa_is_int64(v->type))
    return;
  if (ssa_is_computed(v, MAX_DEPTH) && stays(e, v, MAX_DEPTH)) {
    if (!ir_is_within(ssa_intervals_of(&e->of), v, int32))
      move(e, v);
  } else if (v->op == OP_ADD || v->op == OP_SUB || v->op == OP_CAST) {
    for (uint32_t k = 0; k < v->nargs; k++)
      visit(e, v->args[k], depth - 1);
  }
}

static void add_block(Early *e, Block *b) {
  if (e->loop[b->rpo] == e->header->rpo)
    return;
  e->loop[b->rpo] = e->header->rpo;
  VEC_PUSH(&e->of.cx->arena, &e->blocks, b);
}

static void find_blocks(Early *e, Block *latch) {
  e->blocks.len = 0;
  add_block(e, e->header);
  add_block(e, latch);
  for (uint32_t k = 1; k < e->blocks.len; k++)
    for (uint32_t p = 0; p < e->blocks.data[k]->preds.len; p++)
      add_block(e, e->blocks.data[k]->preds.data[p]);
}

/* Is the block in front of the header in a loop that the header is not in, which comes before? What
 * goes there would be computed in each of its iterations. */
static bool is_behind_loop(const Block *header) {
  const Block *front = header->idom;
  for (const Block *b = front; b; b = b->idom)
    for (uint32_t k = 0; k < b->preds.len; k++) {
      const Block *latch = b->preds.data[k];
      if (ir_dominates(b, latch) && latch->rpo >= front->rpo && latch->rpo < header->rpo)
        return true;
    }
  return false;
}

static void visit_loop(Early *e, Block *header, Block *latch) {
  e->header = header;
  find_blocks(e, latch);
  for (uint32_t b = 0; b < e->blocks.len; b++)
    FOR_INS (e->blocks.data[b], i)
      for (uint32_t k = 0; i->op >= OP_LT && i->op <= OP_GE && k < i->nargs; k++)
        visit(e, i->args[k], MAX_DEPTH);
}

void cg_early_numbers(Cx *cx, Fn *fn) {
  uint32_t n = 0;
  FOR_BLOCKS (fn, b)
    n++;
  Early e = {.of = {.cx = cx, .fn = fn}, .loop = CX_ARRAY(cx, uint32_t, n)};
  FOR_BLOCKS (fn, header) /* an outer loop comes first */
    for (uint32_t p = 0; p < header->preds.len; p++)
      if (header->idom && ir_dominates(header, header->preds.data[p]) && !is_behind_loop(header))
        visit_loop(&e, header, header->preds.data[p]);
}
