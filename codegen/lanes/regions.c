/* Lanes: blocks in order, loops, and the regions of branches that split the lanes. See lanes.h. */
#include <string.h>

#include "codegen/lanes/private.h"
#include "codegen/llvm/block_order.h"

/* --- blocks --- */

/* What follows it being known: a block whose ways out all end in traps. Its way must be one without branches. */
static bool is_dead(const ValueMap *dead, LLVMBasicBlockRef block, bool *branches) {
  LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
  if (LLVMIsAUnreachableInst(end))
    return true;
  unsigned n = LLVMGetNumSuccessors(end);
  for (unsigned k = 0; k < n; k++)
    if (valuemap_get(dead, LLVMGetSuccessor(end, k)) == VALUEMAP_NONE)
      return false;
  *branches |= n > 1;
  return n > 0;
}

static bool is_plain_end(LLVMValueRef end) {
  return LLVMIsAReturnInst(end) || LLVMIsABranchInst(end);
}

static bool make_blocks(Lanes *l) {
  Blocks old = cg_blocks_in_order(l->arena, l->f);
  ValueMap dead = {.arena = l->arena};
  bool branches = false;
  for (uint32_t k = old.len; k-- > 0;)
    if (is_dead(&dead, old.data[k], &branches))
      valuemap_set(&dead, old.data[k], 1);
  if (branches || old.len - dead.len >= LANES_BLOCKS || old.len == dead.len)
    return false;
  l->blocks = ARENA_ARRAY(l->arena, LaneBlock, old.len);
  for (uint32_t k = 0; k < old.len; k++) {
    if (valuemap_get(&dead, old.data[k]) != VALUEMAP_NONE)
      continue;
    valuemap_set(&l->block_of, old.data[k], l->nblocks);
    l->blocks[l->nblocks++] = (LaneBlock){.old = old.data[k], .loop = NO_BLOCK, .join = NO_BLOCK};
  }
  for (uint32_t k = 0; k < l->nblocks; k++) {
    LaneBlock *b = &l->blocks[k];
    LLVMValueRef end = LLVMGetBasicBlockTerminator(b->old);
    if (!is_plain_end(end))
      return false;
    for (unsigned s = 0; s < LLVMGetNumSuccessors(end); s++) {
      uint32_t to = valuemap_get(&l->block_of, LLVMGetSuccessor(end, s));
      if (to == VALUEMAP_NONE)
        b->dead = LLVMGetSuccessor(end, s);
      else if (!b->nsucc || b->succ[0] != to)
        b->succ[b->nsucc++] = to;
    }
  }
  return true;
}

static void find_preds(Lanes *l) {
  for (uint32_t k = 0; k < l->nblocks; k++)
    for (uint32_t s = 0; s < l->blocks[k].nsucc; s++)
      l->blocks[l->blocks[k].succ[s]].npred++;
  for (uint32_t k = 0; k < l->nblocks; k++) {
    l->blocks[k].pred = ARENA_ARRAY(l->arena, uint32_t, l->blocks[k].npred + 1);
    l->blocks[k].npred = 0;
  }
  for (uint32_t k = 0; k < l->nblocks; k++)
    for (uint32_t s = 0; s < l->blocks[k].nsucc; s++) {
      LaneBlock *to = &l->blocks[l->blocks[k].succ[s]];
      to->pred[to->npred++] = k;
    }
}

/* --- dominators, as sets --- */

static void fill(BlockSet *s) { memset(s, 255, sizeof *s); }
static bool cut(BlockSet *s, const BlockSet *by) { /* s &= by: changed? */
  bool changed = false;
  for (unsigned k = 0; k < LANES_WORDS; k++) {
    uint64_t w = s->words[k] & by->words[k];
    changed |= w != s->words[k];
    s->words[k] = w;
  }
  return changed;
}
static unsigned size_of(const BlockSet *s) {
  unsigned n = 0;
  for (unsigned k = 0; k < LANES_WORDS; k++)
    n += (unsigned)__builtin_popcountll(s->words[k]);
  return n;
}

/* sets[k]: what dominates k, or post-dominates it. Blocks from which no way leads to the end keep all. */
static void find_dominators(const Lanes *l, BlockSet *sets, bool post) {
  for (uint32_t k = 0; k < l->nblocks; k++)
    fill(&sets[k]);
  for (bool again = true; again;) {
    again = false;
    for (uint32_t n = 0; n < l->nblocks; n++) {
      uint32_t k = post ? l->nblocks - 1 - n : n;
      const LaneBlock *b = &l->blocks[k];
      uint32_t count = post ? b->nsucc : b->npred;
      const uint32_t *from = post ? b->succ : b->pred;
      BlockSet now = {0};
      if (count)
        fill(&now);
      for (uint32_t s = 0; s < count; s++)
        cut(&now, &sets[from[s]]);
      add_to(&now, k);
      again |= cut(&sets[k], &now);
    }
  }
}

static bool find_joins(Lanes *l) {
  BlockSet *sets = ARENA_ARRAY(l->arena, BlockSet, l->nblocks);
  find_dominators(l, sets, true);
  for (uint32_t k = 0; k < l->nblocks; k++) {
    unsigned n = size_of(&sets[k]);
    if (n > l->nblocks)
      return false; /* from here no way leads out */
    for (uint32_t p = 0; p < l->nblocks; p++)
      if (p != k && in_set(&sets[k], p) && size_of(&sets[p]) == n - 1)
        l->blocks[k].join = p;
  }
  return true;
}

/* --- loops --- */

static void fill_loop(Lanes *l, LaneLoop *loop) {
  VEC(uint32_t) work = {0};
  add_to(&loop->blocks, loop->header);
  VEC_PUSH(l->arena, &work, loop->latch);
  while (work.len) {
    uint32_t k = VEC_POP(&work);
    if (in_set(&loop->blocks, k))
      continue;
    add_to(&loop->blocks, k);
    for (uint32_t p = 0; p < l->blocks[k].npred; p++)
      VEC_PUSH(l->arena, &work, l->blocks[k].pred[p]);
  }
}

/* One way in and one way back for each, else refused. */
static bool find_loops(Lanes *l) {
  BlockSet *sets = ARENA_ARRAY(l->arena, BlockSet, l->nblocks);
  find_dominators(l, sets, false);
  for (uint32_t h = 0; h < l->nblocks; h++) {
    LaneLoop loop = {.header = h, .latch = NO_BLOCK, .parent = NO_BLOCK};
    for (uint32_t p = 0; p < l->blocks[h].npred; p++) {
      uint32_t from = l->blocks[h].pred[p];
      if (from < h)
        continue;
      if (!in_set(&sets[from], h) || loop.latch != NO_BLOCK || l->blocks[h].npred != 2)
        return false;
      loop.latch = from;
    }
    if (loop.latch == NO_BLOCK)
      continue;
    fill_loop(l, &loop);
    VEC_PUSH(l->arena, &l->loops, loop);
  }
  for (uint32_t n = 0; n < l->loops.len; n++) { /* an outer loop's header comes before */
    const LaneLoop *loop = &l->loops.data[n];
    l->loops.data[n].parent = l->blocks[loop->header].loop;
    for (uint32_t k = 0; k < l->nblocks; k++)
      if (in_set(&loop->blocks, k))
        l->blocks[k].loop = n;
  }
  return true;
}

/* --- one latch a loop --- */

static bool is_back_edge(const Lanes *l, const BlockSet *dominators, LLVMBasicBlockRef from,
                         uint32_t header) {
  uint32_t k = valuemap_get(&l->block_of, from);
  return k != VALUEMAP_NONE && k >= header && in_set(&dominators[k], header);
}

/* phi: split into one of the latch, for the back edges, and a new one of the header. */
static void split_phi(Lanes *l, const BlockSet *dominators, LLVMValueRef phi, uint32_t header,
                      LLVMBasicBlockRef latch) {
  LLVMTypeRef t = LLVMTypeOf(phi);
  LLVMPositionBuilderBefore(l->b, phi);
  LLVMValueRef outer = LLVMBuildPhi(l->b, t, "");
  LLVMPositionBuilderAtEnd(l->b, latch);
  LLVMValueRef inner = LLVMBuildPhi(l->b, t, "");
  for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
    LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, k);
    LLVMValueRef v = LLVMGetIncomingValue(phi, k);
    LLVMAddIncoming(is_back_edge(l, dominators, from, header) ? inner : outer, &v, &from, 1);
  }
  LLVMAddIncoming(outer, &inner, &latch, 1);
  LLVMReplaceAllUsesWith(phi, outer);
  LLVMInstructionEraseFromParent(phi);
}

static void merge_latches(Lanes *l, const BlockSet *dominators, uint32_t header) {
  const LaneBlock *h = &l->blocks[header];
  LLVMBasicBlockRef latch = LLVMAppendBasicBlockInContext(l->cg->context, l->f, "latch");
  for (LLVMValueRef i = LLVMGetFirstInstruction(h->old), next; LLVMIsAPHINode(i); i = next) {
    next = LLVMGetNextInstruction(i);
    split_phi(l, dominators, i, header, latch);
  }
  for (uint32_t p = 0; p < h->npred; p++) {
    LLVMBasicBlockRef from = l->blocks[h->pred[p]].old;
    LLVMValueRef end = LLVMGetBasicBlockTerminator(from);
    for (unsigned s = 0; is_back_edge(l, dominators, from, header) && s < LLVMGetNumSuccessors(end);
         s++)
      if (LLVMGetSuccessor(end, s) == h->old)
        LLVMSetSuccessor(end, s, latch);
  }
  LLVMPositionBuilderAtEnd(l->b, latch);
  LLVMBuildBr(l->b, h->old);
}

/* LLVM would make nested loops of some: an iteration that changes a variable and one that does not. Lanes would wait for each other. */
void ln_merge_latches(Lanes *l) {
  if (!make_blocks(l))
    return;
  find_preds(l);
  BlockSet *sets = ARENA_ARRAY(l->arena, BlockSet, l->nblocks);
  find_dominators(l, sets, false);
  for (uint32_t h = 0; h < l->nblocks; h++) {
    uint32_t backs = 0;
    for (uint32_t p = 0; p < l->blocks[h].npred; p++)
      backs += is_back_edge(l, sets, l->blocks[l->blocks[h].pred[p]].old, h);
    if (backs > 1)
      merge_latches(l, sets, h);
  }
}

/* Units by their first block in reverse post-order: what comes before comes before, and a loop stays in one piece. */
static uint32_t put_in_order(Lanes *l, uint32_t context, uint32_t n) {
  for (uint32_t k = 0; k < l->nblocks; k++) {
    uint32_t own = ln_own_loop(l, k);
    if (l->blocks[k].loop == context)
      l->order[l->blocks[k].place = n++] = k;
    else if (own != NO_BLOCK && l->loops.data[own].parent == context)
      n = put_in_order(l, own, n);
  }
  return n;
}

bool ln_find_flow(Lanes *l) {
  if (!make_blocks(l))
    return false;
  find_preds(l);
  if (!find_joins(l) || !find_loops(l))
    return false;
  l->order = ARENA_ARRAY(l->arena, uint32_t, l->nblocks);
  return put_in_order(l, NO_BLOCK, 0) == l->nblocks;
}

/* --- regions --- */

static void find_region(Lanes *l, LaneBlock *d) {
  VEC(uint32_t) work = {0};
  for (uint32_t s = 0; s < d->nsucc; s++)
    VEC_PUSH(l->arena, &work, d->succ[s]);
  while (work.len) {
    uint32_t k = VEC_POP(&work);
    if (k == d->join || in_set(&d->region, k))
      continue;
    add_to(&d->region, k);
    for (uint32_t s = 0; s < l->blocks[k].nsucc; s++)
      VEC_PUSH(l->arena, &work, l->blocks[k].succ[s]);
  }
}

static void mask_divergent_loops(Lanes *l) {
  for (uint32_t k = 0; k < l->nblocks; k++)
    if (l->blocks[k].loop != NO_BLOCK && l->loops.data[l->blocks[k].loop].divergent)
      l->blocks[k].masked = l->blocks[k].meets = true;
  for (uint32_t n = 0; n < l->loops.len; n++) {
    uint32_t parent = l->loops.data[n].parent;
    if (parent != NO_BLOCK && l->loops.data[parent].divergent)
      l->loops.data[n].masked = true;
  }
}

static bool stays_in(const Lanes *l, const LaneBlock *d, uint32_t loop) {
  const BlockSet *blocks = &l->loops.data[loop].blocks;
  for (unsigned k = 0; k < LANES_WORDS; k++)
    if (d->region.words[k] & ~blocks->words[k])
      return false;
  return d->join != NO_BLOCK && in_set(blocks, d->join);
}

/* Of a split's ways one is run after the other: what stands behind comes after the effects of what stands in front. */
static void make_dirty(Lanes *l, const LaneBlock *d) {
  bool dirty = false;
  for (uint32_t place = 0; place < l->nblocks; place++) {
    LaneBlock *x = &l->blocks[l->order[place]];
    if (!in_set(&d->region, l->order[place]))
      continue;
    x->dirty |= dirty;
    dirty |= x->writes;
  }
}

/* A split concerns the units of the contexts that it is in: those inside a loop that it is outside of run together again. */
void ln_split(Lanes *l, uint32_t block) {
  LaneBlock *d = &l->blocks[block];
  d->splits = true;
  find_region(l, d);
  make_dirty(l, d);
  for (uint32_t n = d->loop; n != NO_BLOCK; n = l->loops.data[n].parent)
    l->loops.data[n].divergent |= !stays_in(l, d, n);
  for (uint32_t k = 0; k < l->nblocks; k++) {
    bool between = in_set(&d->region, k);
    if (!between && k != d->join)
      continue;
    LaneBlock *x = &l->blocks[k];
    uint32_t own = ln_own_loop(l, k);
    if (loop_has(l, x->loop, block)) {
      x->meets = true;
      if (between && own != NO_BLOCK)
        l->loops.data[own].divergent = true;
      else if (between)
        x->masked = true;
    } else if (own != NO_BLOCK && between && loop_has(l, l->loops.data[own].parent, block)) {
      l->loops.data[own].masked = true;
    }
  }
  mask_divergent_loops(l);
}
