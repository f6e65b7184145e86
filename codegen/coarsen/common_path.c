/* Coarsening: what differs between the copies of a plan, and the way through the kernel on which
 * they go together.
 *
 * In: a shape and a plan. Out: CoIns.varies and .once, CoShared.varies, and for each block how it
 * ends on the way. Both depend on each other: a value varies where copies come by ways of their
 * own, and a branch is one of those where its condition varies. So all is first taken to be the
 * same, and what is found to vary makes more vary, until nothing changes. */
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

/* An address in, or a load from, an array of which each copy has its own. */
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

/* --- the way --- */

uint32_t co_meeting(const CoShape *s, uint32_t b) {
  uint32_t up = s->g.nodes[b].ipdom;
  return up == GRAPH_NONE ? b : up;
}

/* Nothing but the end of the kernel. */
static bool is_end(const CoShape *s, uint32_t b) {
  const CoBlock *block = &s->blocks[b];
  return !block->in->nsucc && LLVMIsAReturnInst(s->ins.data[block->first].old);
}

/* The way that most of the work is on. */
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

/* Where threads meet, all of a block take a guard's same way, so that none waits for one that went
 * to the loop. */
static bool may_guard(const CoShape *s, const CoBlock *b, uint32_t meet) {
  bool ends = is_end(s, meet) && meet != (uint32_t)(b - s->blocks);
  const CoIns *condition = co_ins(s, co_condition(s, b));
  return ends && b->in->nsucc == 2 && !b->written &&
         (!s->meets || !condition || !condition->by_thread);
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

/* How a block on the way ends. */
static const char *end_block(CoShape *s, uint32_t at) {
  CoBlock *b = &s->blocks[at];
  const CoIns *condition = b->in->nsucc > 1 ? co_ins(s, co_condition(s, b)) : NULL;
  b->kind = b->in->nsucc > 1 ? CO_SPLIT : b->in->nsucc ? CO_JUMP : CO_END;
  if (!condition || !condition->varies)
    return NULL;
  b->meet = co_meeting(s, at);
  if (may_guard(s, b, b->meet)) {
    b->kind = CO_GUARD;
    b->taken = heavier(s, b);
    return NULL;
  }
  if (b->meet == at)
    return "it ends in several places";
  b->kind = CO_ARMS;
  b->arms = co_between(s, at, b->meet);
  return arms_fault(s, at, b);
}

static CoSet next_on_way(const CoBlock *b) {
  CoSet next = 0;
  if (b->kind == CO_ARMS)
    return co_one(b->meet);
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

static const char *walk(CoShape *s) {
  CoSet way = co_one(0), written = 0, apart = 0;
  for (uint32_t k = 0; k < s->nblocks; k++) {
    CoBlock *b = &s->blocks[k];
    b->kind = CO_APART;
    if (!co_has(way, k))
      continue;
    b->written = co_has(written, k) || b->effects || loops_write(s, k);
    const char *fault = end_block(s, k);
    if (fault)
      return fault;
    CoSet next = next_on_way(b), arms = b->kind == CO_ARMS ? b->arms : 0;
    if (b->written || arms_write(s, arms))
      written |= next;
    if (arms & apart)
      return "its ways cross";
    apart |= arms;
    way |= next;
  }
  return way & apart ? "its ways cross" : NULL;
}

/* --- what the way makes vary --- */

static bool mark_joins(CoShape *s, const CoBlock *b, CoSet from) {
  bool changed = false;
  const CoBlock *meet = &s->blocks[b->meet];
  for (uint32_t k = meet->first; k < meet->last && is_phi(&s->ins.data[k]); k++) {
    CoIns *i = &s->ins.data[k];
    unsigned ways = 0;
    for (unsigned n = 0, all = LLVMCountIncoming(i->old); n < all; n++)
      ways += co_has(from, graph_number(&s->g, LLVMGetIncomingBlock(i->old, n)));
    changed |= ways > 1 && !i->joins;
    i->joins |= ways > 1;
  }
  return changed;
}

static CoSet all_arms(const CoShape *s) {
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
  bool changed = mark_shared(s, all_arms(s));
  for (uint32_t k = 0; k < s->nblocks; k++)
    if (s->blocks[k].kind == CO_ARMS)
      changed |= mark_joins(s, &s->blocks[k], s->blocks[k].arms | co_one(k));
  return changed;
}

/* --- loops that wait ---
 *
 * A loop could wait for another block, which is a copy of the same thread. Those of the way end by
 * what is the same in all copies, so all that is left to rule out is that this is read from memory
 * inside of the loop. */
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

/* --- the whole --- */

static void forget(CoShape *s) {
  for (uint32_t k = 0; k < s->ins.len; k++)
    s->ins.data[k].varies = s->ins.data[k].joins = s->ins.data[k].once = false;
  for (uint32_t k = 0; k < s->shared.len; k++)
    s->shared.data[k].varies = false;
}

static bool stands_once(const CoShape *s, const CoIns *i) {
  if (i->effects) /* what all copies write to the same place of one array */
    return i->shared && !s->shared.data[i->shared - 1].varies;
  return !i->varies;
}

const char *co_way(CoShape *s, const CoPlan *plan) {
  forget(s);
  do {
    spread(s, plan);
    const char *fault = walk(s);
    if (fault)
      return fault;
  } while (mark(s));
  for (uint32_t k = 0; k < s->ins.len; k++)
    s->ins.data[k].once = stands_once(s, &s->ins.data[k]);
  return loops_fault(s);
}
