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
 * And divisions by what is known at run time only, which each iteration does with the same numbers:
 *
 *   for y in …: for x in …:            for y in …: row = (cy + y) % n
 *     row, col = (cy + y) % n, (cx + x) % n         for x in …: col = (cx + x) % n
 *
 * They ask how large their operands are (lower/divide.c), and what has branches LLVM moves nowhere.
 * They go only where the loop comes next, since they take longer than a branch around it.
 *
 * The operations cannot fail and wrap, so it does not matter that they run where the loop does not.
 * What was known of them behind a guard need not hold in front of it: they lose such flags.
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
  bool divisions;      /* these are to move */
} Early;

static bool is_in_loop(const Early *e, const Block *b) { return e->loop[b->rpo] == e->header->rpo; }

static bool is_inside(const Early *e, const Ins *i) { return i->block && is_in_loop(e, i->block); }

static bool is_division(const Ins *i) { return i->op == OP_FLOORDIV || i->op == OP_MOD; }

/* Is it computed from what the loop does not change, by operations that may go in front of it? */
static bool stays(const Early *e, const Ins *i, unsigned depth) {
  if (!is_inside(e, i))
    return true;
  bool moves = i->op == OP_ADD || i->op == OP_SUB || i->op == OP_MUL || i->op == OP_CAST ||
               i->op == OP_CONST || (e->divisions && is_division(i));
  if (!depth || !moves || !ssa_is_int64(i->type))
    return false;
  for (uint32_t k = 0; k < i->nargs; k++)
    if (!ssa_is_int64(i->args[k]->type) || !stays(e, i->args[k], depth - 1))
      return false;
  return true;
}

/* Of what is known of it, what follows from its operands. */
static uint16_t flags_in_front(const Ins *i) {
  uint16_t known = i->op == OP_CONST ? i->flags : i->flags & INS_NONNEGATIVE;
  bool keeps = i->op == OP_CONST || i->op == OP_CAST || is_division(i);
  for (uint32_t k = 0; k < i->nargs; k++)
    keeps &= (i->args[k]->flags & INS_NONNEGATIVE) != 0;
  return keeps ? known : 0;
}

static void move(const Early *e, Ins *i) {
  if (!is_inside(e, i))
    return;
  for (uint32_t k = 0; k < i->nargs; k++)
    move(e, i->args[k]);
  i->flags = flags_in_front(i);
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

static bool is_known(const Ins *i) {
  while (i->op == OP_CAST)
    i = i->args[0];
  return i->op == OP_CONST;
}

/* Each iteration comes to blocks that dominate the latch. In order: what a division is made of may
 * be another one. */
static void move_divisions(Early *e, const Block *latch) {
  if (e->header->idom->last->op != OP_BR)
    return;
  for (Block *b = e->header; b; b = b->next)
    for (Ins *i = is_in_loop(e, b) && ir_dominates(b, latch) ? b->first : NULL, *next; i;
         i = next) {
      next = i->next;
      if (is_division(i) && !is_known(i->args[1]) && stays(e, i, MAX_DEPTH))
        move(e, i);
    }
}

static void visit_loop(Early *e, Block *header, Block *latch) {
  e->header = header;
  find_blocks(e, latch);
  if (e->divisions) {
    move_divisions(e, latch);
    return;
  }
  for (uint32_t b = 0; b < e->blocks.len; b++)
    FOR_INS (e->blocks.data[b], i)
      for (uint32_t k = 0; i->op >= OP_LT && i->op <= OP_GE && k < i->nargs; k++)
        visit(e, i->args[k], MAX_DEPTH);
}

static void visit_header(Early *e, Block *header) {
  for (uint32_t p = 0; p < header->preds.len; p++)
    if (header->idom && ir_dominates(header, header->preds.data[p]) && !is_behind_loop(header))
      visit_loop(e, header, header->preds.data[p]);
}

void cg_early_numbers(Cx *cx, Fn *fn) {
  uint32_t n = 0;
  FOR_BLOCKS (fn, b)
    n++;
  Block **blocks = CX_ARRAY(cx, Block *, n);
  FOR_BLOCKS (fn, b)
    blocks[b->rpo] = b;
  Early e = {.of = {.cx = cx, .fn = fn}, .loop = CX_ARRAY(cx, uint32_t, n)};
  for (uint32_t k = 0; k < n; k++) /* an outer loop comes first */
    visit_header(&e, blocks[k]);
  Early d = {.of = e.of, .loop = CX_ARRAY(cx, uint32_t, n), .divisions = true};
  for (uint32_t k = n; k-- > 0;) /* the inner one: in front of it is inside of the outer one */
    visit_header(&d, blocks[k]);
}
