/* Coarsening: divergence analysis between the threads of a block, for kernels with barriers or warp
 * operations.
 *
 * In: a shape whose threads synchronise. Out: CoIns.by_thread, and whether the kernel is refused.
 *
 * Barriers and warp operations do not wait for threads that have ended. In the loop of the second
 * entry such a thread continues with the next block instead, and would synchronise with threads
 * that are still in the last one. So no barrier may be control dependent on a condition that
 * diverges within the block (CUDA requires that anyway, but for threads that have ended), and no
 * warp operation may be on one side of such a branch if the other side ends. Divergent are thread
 * indices and lane numbers, loads from divergent addresses, atomics, results of warp operations,
 * phis at the joins of divergent branches, values of loops that threads leave in different
 * iterations, and all that is computed from these. */
#include <assert.h>

#include "codegen/coarsen/coarsen.h"

static bool is_root(const CoIns *i) {
  return co_differs_in(i, SCOPE_THREAD) || (i->meets && !i->barrier) ||
         (i->effects && !LLVMIsAStoreInst(i->old));
}

static bool operands_differ(const CoShape *s, LLVMValueRef v) {
  for (unsigned k = 0, n = (unsigned)LLVMGetNumOperands(v); k < n; k++) {
    const CoIns *i = co_ins(s, LLVMGetOperand(v, k));
    if (i && i->by_thread)
      return true;
  }
  return false;
}

static bool diverges(const CoShape *s, const CoBlock *b) {
  const CoIns *i = b->in->nsucc > 1 ? co_ins(s, co_condition(s, b)) : NULL;
  return i && i->by_thread;
}

static bool mark(CoIns *i) {
  bool changed = !i->by_thread;
  i->by_thread = true;
  return changed;
}

/* Marks the phis that a divergent branch makes divergent: those at its join, and those in its
 * region, where some of its paths join. */
static bool mark_region(CoShape *s, uint32_t at) {
  uint32_t join = co_join(s, at);
  CoSet region = co_between(s, at, join), joins = region | (join != at ? co_one(join) : 0);
  /* everything in a loop that threads leave in different iterations */
  CoSet loop = co_has(region, at) ? region : 0;
  bool changed = false;
  for (uint32_t k = 0; k < s->ins.len; k++) {
    CoIns *i = &s->ins.data[k];
    if (co_has(loop, i->block) || (co_has(joins, i->block) && LLVMIsAPHINode(i->old)))
      changed |= mark(i);
  }
  return changed;
}

static bool spread(CoShape *s) {
  bool changed = false;
  for (uint32_t k = 0; k < s->ins.len; k++) {
    CoIns *i = &s->ins.data[k];
    if (!i->by_thread && (is_root(i) || (!i->barrier && operands_differ(s, i->old))))
      changed |= mark(i);
  }
  for (uint32_t k = 0; k < s->nblocks; k++)
    if (diverges(s, &s->blocks[k]))
      changed |= mark_region(s, k);
  return changed;
}

const char *co_threads(CoShape *s) {
  assert(s->meets);
  while (spread(s))
    ;
  for (uint32_t k = 0; k < s->nblocks; k++) {
    if (!diverges(s, &s->blocks[k]))
      continue;
    uint32_t join = co_join(s, k);
    CoSet region = co_between(s, k, join);
    bool end = join == k || LLVMIsAReturnInst(s->ins.data[s->blocks[join].first].old);
    for (uint32_t b = 0; b < s->nblocks; b++)
      if (co_has(region, b) && (s->blocks[b].barrier || (end && s->blocks[b].meets)))
        return "some of its threads end before others synchronise";
  }
  return NULL;
}
