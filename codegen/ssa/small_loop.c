/* Small loops: see small_loop.h. */
#include "codegen/ssa/small_loop.h"

#include "ir/cfg.h"

enum { MAX_CALLS = 2 }; /* one in another, of a loop that is written twice */

bool ssa_in_loop(const SmallLoop *loop, const Block *b) {
  for (unsigned k = 0; k < loop->n; k++)
    if (loop->blocks[k] == b)
      return true;
  return false;
}

static bool is_back_edge(const Block *from, const Block *to) {
  return from->rpo >= to->rpo && ir_dominates(to, from);
}

bool ssa_is_header(const Block *b) {
  for (uint32_t k = 0; k < b->preds.len; k++)
    if (is_back_edge(b->preds.data[k], b))
      return true;
  return false;
}

/* The blocks of the natural loop; false if there are more than `most`, or it contains another loop
 * where it must not. */
static bool collect(SmallLoop *loop, Block *header, Block *latch, unsigned most, bool nest) {
  loop->blocks[0] = header;
  loop->n = 1;
  if (latch != header)
    loop->blocks[loop->n++] = latch;
  for (unsigned at = 1; at < loop->n; at++) {
    const Block *b = loop->blocks[at];
    if (!nest && ssa_is_header(b))
      return false;
    for (uint32_t k = 0; k < b->preds.len; k++) {
      if (ssa_in_loop(loop, b->preds.data[k]))
        continue;
      if (loop->n == most)
        return false;
      loop->blocks[loop->n++] = b->preds.data[k];
    }
  }
  return true;
}

static bool has_one_exit(const SmallLoop *loop) {
  for (unsigned k = 1; k < loop->n; k++)
    for (int s = 0; s < 2; s++)
      if (loop->blocks[k]->succ[s] && !ssa_in_loop(loop, loop->blocks[k]->succ[s]))
        return false;
  return true;
}

bool ssa_small_loop(SmallLoop *loop, Block *header, Block *latch) {
  return is_back_edge(latch, header) && collect(loop, header, latch, SMALL_LOOP_BLOCKS, false) &&
         has_one_exit(loop);
}

bool ssa_any_nest(SmallLoop *loop, Block *header, Block *latch) {
  return is_back_edge(latch, header) && collect(loop, header, latch, NEST_BLOCKS, true);
}

bool ssa_small_nest(SmallLoop *loop, Block *header, Block *latch) {
  if (!is_back_edge(latch, header) || !collect(loop, header, latch, NEST_BLOCKS, true) ||
      !has_one_exit(loop))
    return false;
  bool any = false;
  for (unsigned k = 1; k < loop->n; k++)
    for (uint32_t p = 0; p < loop->blocks[k]->preds.len; p++) {
      Block *from = loop->blocks[k]->preds.data[p];
      SmallLoop inner;
      if (!is_back_edge(from, loop->blocks[k]))
        continue;
      if (!ssa_small_loop(&inner, loop->blocks[k], from))
        return false;
      any = true;
    }
  return any;
}

/* May there be another one of it? A call is what it calls. */
static bool may_be_twice(const Ins *i) {
  Effect e = ir_op_info[i->op].effect;
  if (i->op == OP_INTRINSIC)
    return ir_intrinsics[i->aux.intrinsic].effect != EFFECT_SYNC;
  return i->op == OP_CHECK_INDEX || i->op == OP_CALL_FN ||
         (i->op != OP_CALL_C && i->op != OP_PRINT && i->op != OP_ALLOC && e != EFFECT_SYNC &&
          e != EFFECT_STOP);
}

/* Counts the operations, with those of functions that are called; false: it must not be written
 * twice, or there are too many. */
static bool count(const Block *b, unsigned calls, unsigned most, unsigned *size) {
  FOR_INS (b, i) {
    if (!may_be_twice(i) || ++*size > most)
      return false;
    if (i->op != OP_CALL_FN)
      continue;
    if (!calls || i->aux.fn->recursive)
      return false;
    FOR_BLOCKS (i->aux.fn, inner)
      if (!count(inner, calls - 1, most, size))
        return false;
  }
  return true;
}

bool ssa_is_short(const SmallLoop *loop, unsigned most) {
  unsigned size = 0;
  for (unsigned k = 0; k < loop->n; k++)
    if (!count(loop->blocks[k], MAX_CALLS, most, &size))
      return false;
  return true;
}

const Ins *ssa_loaded(const Ins *bound) {
  while (bound->op == OP_CAST || bound->op == OP_ADD || bound->op == OP_SUB)
    bound = bound->args[0];
  return bound->op == OP_LOAD ? bound : NULL;
}
