/* Coarsening: divergence analysis between the copies of a plan, and the path through the kernel
 * that they take in common.
 *
 * In: a shape and a plan. Out: CoIns.varies and .once, CoShared.varies, and for each block of the
 * common path how it ends (CoKind). The two depend on each other: a phi varies where copies arrive
 * by different paths, and a branch makes copies diverge where its condition varies. So this is an
 * optimistic fixed point: everything is first taken to be the same in all copies, and what is found
 * to vary makes more vary, until nothing changes.
 *
 * A divergent branch before the first write is a guard if its sides do not join and its condition
 * is a bound (bounds.c): the copies must agree, or the block runs them one by one from the
 * beginning. Around loops, which copies cannot run by themselves, it may be slanted too. Any other
 * must have a join, up to which each copy runs by itself (its arms). Arms contain no loops and no
 * barriers; kernels for which that fails are refused here. */
#include <assert.h>

#include "codegen/coarsen/coarsen.h"

LLVMValueRef co_condition(const CoShape *s, const CoBlock *b) {
  LLVMValueRef end = s->ins.data[b->last - 1].old;
  return LLVMIsASwitchInst(end) ? LLVMGetOperand(end, 0) : LLVMGetCondition(end);
}

static bool is_phi(const CoIns *i) { return LLVMIsAPHINode(i->old) != NULL; }

static bool is_atomic(const CoIns *i) { return i->effects && !LLVMIsAStoreInst(i->old); }

/* --- what varies --- */

static bool is_root(const CoPlan *p, const CoIns *i) {
  if (p->linear)
    return i->axis == p->axis + 1;
  return i->sreg == ir_register_at(SREG_CTAID, p->axis) ||
         (p->threads && i->sreg == ir_register_at(SREG_TID, p->axis));
}

static bool operands_vary(const CoShape *s, LLVMValueRef v) {
  for (unsigned k = 0, n = (unsigned)LLVMGetNumOperands(v); k < n; k++) {
    const CoIns *i = co_ins(s, LLVMGetOperand(v, k));
    if (i && i->varies)
      return true;
  }
  return false;
}

/* An address in, or a load from, a shared array of which each copy has its own. */
static bool is_of_own_array(const CoShape *s, const CoIns *i) {
  const CoShared *a = i->shared                          ? &s->shared.data[i->shared - 1]
                      : LLVMIsAGetElementPtrInst(i->old) ? co_shared(s, i->old)
                                                         : NULL;
  return a && a->varies;
}

static bool differs(const CoShape *s, const CoPlan *p, const CoIns *i) {
  return i->joins || is_root(p, i) || is_atomic(i) || is_of_own_array(s, i) ||
         operands_vary(s, i->old);
}

static void spread(CoShape *s, const CoPlan *p) {
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t k = 0; k < s->ins.len; k++) {
      CoIns *i = &s->ins.data[k];
      if (i->varies || !differs(s, p, i))
        continue;
      i->varies = changed = true;
    }
  }
}

/* --- the common path --- */

uint32_t co_join(const CoShape *s, uint32_t b) {
  uint32_t up = s->g.nodes[b].ipdom;
  return up == GRAPH_NONE ? b : up;
}

/* Does the block do nothing but return? */
static bool is_end(const CoShape *s, uint32_t b) {
  const CoBlock *block = &s->blocks[b];
  return !block->in->nsucc && LLVMIsAReturnInst(s->ins.data[block->first].old);
}

/* The side with more work. */
static unsigned heavier(const CoShape *s, const CoBlock *b) {
  return s->blocks[b->in->succ[1]].weight > s->blocks[b->in->succ[0]].weight;
}

CoSet co_between(const CoShape *s, uint32_t from, uint32_t to) {
  CoSet reached = 0;
  for (uint32_t e = 0; e < s->blocks[from].in->nsucc; e++)
    reached |= co_one(s->blocks[from].in->succ[e]);
  for (CoSet old = 0; reached != old;) {
    old = reached;
    for (uint32_t k = 0; k < s->nblocks; k++)
      for (uint32_t e = 0; co_has(reached, k) && k != to && e < s->blocks[k].in->nsucc; e++)
        reached |= co_one(s->blocks[k].in->succ[e]);
  }
  return reached & ~co_one(to);
}

/* A kernel with barriers needs guards that are uniform over the block, so that no thread waits at a
 * barrier for one that is in the loop. */
static bool may_guard(const CoShape *s, const CoPlan *p, const CoBlock *b, uint32_t join) {
  bool ends = is_end(s, join) && join != (uint32_t)(b - s->blocks);
  const CoIns *condition = co_ins(s, co_condition(s, b));
  return ends && b->in->nsucc == 2 && !b->written &&
         (!s->meets || !condition || !condition->by_thread) &&
         co_bound(s, p, co_condition(s, b)) <= (s->loops ? CO_SLANTED : CO_BOUND);
}

static const char *arms_fault(const CoShape *s, uint32_t at, const CoBlock *b) {
  for (uint32_t k = 0; k < s->nblocks; k++)
    if (co_has(b->arms, k) && (s->blocks[k].loop || k == at))
      return "it has a loop whose trip count differs between blocks";
  for (uint32_t k = 0; k < s->nblocks; k++)
    if (co_has(b->arms, k) && s->blocks[k].meets)
      return "its threads synchronise where its blocks take different paths";
  return NULL;
}

/* Decides how a block of the common path ends; the reason if the kernel is refused. */
static const char *end_block(CoShape *s, const CoPlan *p, uint32_t at) {
  CoBlock *b = &s->blocks[at];
  const CoIns *condition = b->in->nsucc > 1 ? co_ins(s, co_condition(s, b)) : NULL;
  b->kind = b->in->nsucc > 1 ? CO_SPLIT
            : !b->in->nsucc  ? CO_END
            : co_checks(b)   ? CO_CHECK
                             : CO_JUMP;
  if (!condition || !condition->varies)
    return NULL;
  b->join = co_join(s, at);
  if (may_guard(s, p, b, b->join)) {
    b->kind = CO_GUARD;
    b->taken = heavier(s, b);
    b->slanted = co_bound(s, p, co_condition(s, b)) == CO_SLANTED;
    return NULL;
  }
  if (b->join == at)
    return "it ends in several places";
  b->kind = CO_ARMS;
  b->arms = co_between(s, at, b->join);
  return arms_fault(s, at, b);
}

static CoSet next_on_path(const CoBlock *b) {
  CoSet next = 0;
  if (b->kind == CO_ARMS)
    return co_one(b->join);
  if (b->kind == CO_GUARD)
    return co_one(b->in->succ[b->taken]);
  for (uint32_t e = 0; e < b->in->nsucc; e++)
    next |= co_one(b->in->succ[e]);
  return next;
}

static bool arms_write(const CoShape *s, CoSet arms) {
  for (uint32_t k = 0; k < s->nblocks; k++)
    if (co_has(arms, k) && s->blocks[k].effects)
      return true;
  return false;
}

static bool loops_write(const CoShape *s, uint32_t at) {
  for (uint32_t h = 0; h < s->nblocks; h++)
    if (co_has(s->blocks[h].loop, at) && arms_write(s, s->blocks[h].loop))
      return true;
  return false;
}

static const char *walk(CoShape *s, const CoPlan *p) {
  CoSet path = co_one(0), written = 0, all_arms = 0;
  for (uint32_t k = 0; k < s->nblocks; k++) {
    CoBlock *b = &s->blocks[k];
    b->kind = CO_OFF_PATH;
    if (!co_has(path, k))
      continue;
    b->written = co_has(written, k) || b->effects || loops_write(s, k);
    const char *fault = end_block(s, p, k);
    if (fault)
      return fault;
    CoSet next = next_on_path(b), arms = b->kind == CO_ARMS ? b->arms : 0;
    if (b->written || arms_write(s, arms))
      written |= next;
    if (arms & all_arms)
      return "its divergent paths cross";
    all_arms |= arms;
    path |= next;
  }
  return path & all_arms ? "its divergent paths cross" : NULL;
}

/* --- what the path makes vary --- */

static bool mark_joins(CoShape *s, const CoBlock *b, CoSet from) {
  bool changed = false;
  const CoBlock *join = &s->blocks[b->join];
  assert(b->kind == CO_ARMS && !co_has(b->arms, b->join));
  for (uint32_t k = join->first; k < join->last && is_phi(&s->ins.data[k]); k++) {
    CoIns *i = &s->ins.data[k];
    unsigned edges = 0;
    for (unsigned n = 0, all = LLVMCountIncoming(i->old); n < all; n++)
      edges += co_has(from, graph_number(&s->g, LLVMGetIncomingBlock(i->old, n)));
    changed |= edges > 1 && !i->joins;
    i->joins |= edges > 1;
  }
  return changed;
}

CoSet co_arms(const CoShape *s) {
  CoSet all = 0;
  for (uint32_t k = 0; k < s->nblocks; k++)
    all |= s->blocks[k].kind == CO_ARMS ? s->blocks[k].arms : 0;
  return all;
}

static bool mark_shared(CoShape *s, CoSet arms) {
  bool changed = false;
  for (uint32_t k = 0; k < s->ins.len; k++) {
    const CoIns *i = &s->ins.data[k];
    CoShared *a = i->effects && i->shared ? &s->shared.data[i->shared - 1] : NULL;
    if (!a || a->varies || !(i->varies || co_has(arms, i->block)))
      continue;
    a->varies = changed = true;
  }
  return changed;
}

static bool mark(CoShape *s) {
  bool changed = mark_shared(s, co_arms(s));
  for (uint32_t k = 0; k < s->nblocks; k++)
    if (s->blocks[k].kind == CO_ARMS)
      changed |= mark_joins(s, &s->blocks[k], s->blocks[k].arms | co_one(k));
  return changed;
}

/* --- loops that wait ---
 *
 * A loop that waits for another block never ends if that block is a copy of the same thread. Loops
 * of the common path end by a condition that is the same in all copies, so they can only wait if
 * that condition is read from memory inside of the loop. */
static bool is_read_inside(const CoShape *s, LLVMValueRef v, CoSet loop, bool *seen) {
  const CoIns *i = co_ins(s, v);
  if (!i || !co_has(loop, i->block) || seen[i - s->ins.data])
    return false;
  seen[i - s->ins.data] = true;
  if ((i->reads && !i->shared) || is_atomic(i))
    return true;
  for (unsigned k = 0, n = (unsigned)LLVMGetNumOperands(v); k < n; k++)
    if (is_read_inside(s, LLVMGetOperand(v, k), loop, seen))
      return true;
  return false;
}

static bool may_wait(const CoShape *s, CoSet loop) {
  for (uint32_t k = 0; k < s->nblocks; k++) {
    const CoBlock *b = &s->blocks[k];
    if (!co_has(loop, k) || b->in->nsucc < 2)
      continue;
    bool *seen = CX_ARRAY(s->cg->cx, bool, s->ins.len);
    if (is_read_inside(s, co_condition(s, b), loop, seen))
      for (uint32_t e = 0; e < b->in->nsucc; e++)
        if (!co_has(loop, b->in->succ[e]))
          return true;
  }
  return false;
}

static const char *loops_fault(const CoShape *s) {
  for (uint32_t h = 0; h < s->nblocks; h++)
    if (s->blocks[h].loop && may_wait(s, s->blocks[h].loop))
      return "it has a loop that could wait for another block";
  return NULL;
}

/* --- the fixed point --- */

static void forget(CoShape *s) {
  for (uint32_t k = 0; k < s->ins.len; k++)
    s->ins.data[k].varies = s->ins.data[k].joins = s->ins.data[k].once = false;
  for (uint32_t k = 0; k < s->shared.len; k++)
    s->shared.data[k].varies = false;
}

static bool stands_once(const CoShape *s, const CoIns *i) {
  if (i->effects) /* all copies write the same to the same place of one array */
    return i->shared && !s->shared.data[i->shared - 1].varies;
  return !i->varies;
}

const char *co_common_path(CoShape *s, const CoPlan *plan) {
  assert(!s->reason && plan->axis < 3);
  forget(s);
  do {
    spread(s, plan);
    const char *fault = walk(s, plan);
    if (fault)
      return fault;
  } while (mark(s));
  for (uint32_t k = 0; k < s->ins.len; k++)
    s->ins.data[k].once = stands_once(s, &s->ins.data[k]);
  assert(s->blocks[0].kind != CO_OFF_PATH);
  return loops_fault(s);
}
