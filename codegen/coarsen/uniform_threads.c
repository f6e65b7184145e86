/* Coarsening: whether all threads of a block come to the same barriers.
 *
 * A thread that has ended counts for no barrier any more, and for no operation of its warp. In the
 * loop over a block's blocks it goes on to the next one instead, where it would meet others who are
 * not there yet. So a barrier must not lie on a way that some threads of a block take and others do
 * not (CUDA asks for that but for threads that have ended), and an operation of a warp on none that
 * others end on. In: a shape whose threads meet. What differs between threads: their numbers, what
 * is loaded from addresses that differ, atomics, operations of warps, phis where threads come by
 * different ways, and what comes of these. */
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

static bool splits(const CoShape *s, const CoBlock *b) {
  const CoIns *i = b->in->nsucc > 1 ? co_ins(s, co_condition(s, b)) : NULL;
  return i && i->by_thread;
}

static bool mark(CoIns *i) {
  bool changed = !i->by_thread;
  i->by_thread = true;
  return changed;
}

/* What threads bring with them from the ways that they took apart, to where all meet or only
 * some. */
static bool mark_apart(CoShape *s, uint32_t at) {
  uint32_t meet = co_meeting(s, at);
  CoSet apart = co_between(s, at, meet), joins = apart | (meet != at ? co_one(meet) : 0);
  /* all of a loop that threads leave at different times */
  CoSet rounds = co_has(apart, at) ? apart : 0;
  bool changed = false;
  for (uint32_t k = 0; k < s->ins.len; k++) {
    CoIns *i = &s->ins.data[k];
    if (co_has(rounds, i->block) || (co_has(joins, i->block) && LLVMIsAPHINode(i->old)))
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
    if (splits(s, &s->blocks[k]))
      changed |= mark_apart(s, k);
  return changed;
}

const char *co_threads(CoShape *s) {
  while (spread(s))
    ;
  for (uint32_t k = 0; k < s->nblocks; k++) {
    if (!splits(s, &s->blocks[k]))
      continue;
    uint32_t meet = co_meeting(s, k);
    CoSet apart = co_between(s, k, meet);
    bool end = meet == k || LLVMIsAReturnInst(s->ins.data[s->blocks[meet].first].old);
    for (uint32_t b = 0; b < s->nblocks; b++)
      if (co_has(apart, b) && (s->blocks[b].barrier || (end && s->blocks[b].meets)))
        return "some of its threads end before others synchronise";
  }
  return NULL;
}
