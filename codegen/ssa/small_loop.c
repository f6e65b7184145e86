/* Small loops: see small_loop.h. */
#include "codegen/ssa/small_loop.h"

#include "ir/cfg.h"

bool ssa_in_loop(const SmallLoop *loop, const Block *b) {
  for (unsigned k = 0; k < loop->n; k++)
    if (loop->blocks[k] == b)
      return true;
  return false;
}

static bool is_back_edge(const Block *from, const Block *to) {
  return from->rpo >= to->rpo && ir_dominates(to, from);
}

static bool is_header(const Block *b) {
  for (uint32_t k = 0; k < b->preds.len; k++)
    if (is_back_edge(b->preds.data[k], b))
      return true;
  return false;
}

/* The blocks of the natural loop; false if there are too many, or it contains another loop. */
static bool collect(SmallLoop *loop, Block *header, Block *latch) {
  loop->blocks[0] = header;
  loop->n = 1;
  if (latch != header)
    loop->blocks[loop->n++] = latch;
  for (unsigned at = 1; at < loop->n; at++) {
    const Block *b = loop->blocks[at];
    if (is_header(b))
      return false;
    for (uint32_t k = 0; k < b->preds.len; k++) {
      if (ssa_in_loop(loop, b->preds.data[k]))
        continue;
      if (loop->n == SMALL_LOOP_BLOCKS)
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
  return is_back_edge(latch, header) && collect(loop, header, latch) && has_one_exit(loop);
}

const Ins *ssa_loaded(const Ins *bound) {
  while (bound->op == OP_CAST || bound->op == OP_ADD || bound->op == OP_SUB)
    bound = bound->args[0];
  return bound->op == OP_LOAD ? bound : NULL;
}
