/* Lanes: loops, the order of blocks, and the regions of divergent branches. See lanes.h.
 *
 * In: a function whose loops have one latch each (ln_merge_latches) and are reducible; others are
 * refused. Blocks are numbered in reverse post-order. Control flow is linearised in that order,
 * with each loop's blocks contiguous. The region of a divergent branch is what lies between it and
 * its immediate post-dominator: its blocks are masked, a loop inside becomes a masked unit, and a
 * loop that the region leaves becomes divergent. Post-dominators come from llvm/graph.c; checks are
 * no branches here, since their other side never returns. */
#include <assert.h>

#include "codegen/lanes/private.h"
#include "codegen/llvm/compat.h"

/* --- blocks and loops --- */

static bool is_plain_end(LLVMValueRef end) {
  return LLVMIsAReturnInst(end) || cg_llvm_is_branch(end);
}

/* False: refused, since a block ends in something else than a branch, a return or a trap. */
static bool make_blocks(Lanes *l) {
  l->g = graph_of(l->arena, l->f, &(GraphHow){.checks = true});
  l->nblocks = l->g.len;
  if (l->nblocks == 0 || l->nblocks >= LANES_BLOCKS)
    return false;
  l->blocks = ARENA_ARRAY(l->arena, LaneBlock, l->nblocks);
  for (uint32_t k = 0; k < l->nblocks; k++) {
    const GraphNode *n = l->blocks[k].in = &l->g.nodes[k];
    if (!is_plain_end(n->last) || (!n->nsucc && !LLVMIsAReturnInst(n->last)))
      return false;
  }
  return true;
}

/* False: refused, since a loop has several entries or several latches. */
static bool find_loops(Lanes *l) {
  graph_loops(&l->g);
  for (uint32_t n = 0; n < l->g.loops.len; n++) {
    const GraphLoop *in = &l->g.loops.data[n];
    LaneLoop loop = {.in = in, .latch = in->latches[0]};
    if (l->g.irreducible || in->nlatches > 1 || l->blocks[in->header].in->npred != 2)
      return false;
    for (uint32_t k = 0; k < in->nnodes; k++)
      ln_add_to(&loop.blocks, in->nodes[k]);
    assert(ln_in_set(&loop.blocks, in->header) && ln_in_set(&loop.blocks, loop.latch));
    VEC_PUSH(l->arena, &l->loops, loop);
  }
  return true;
}

/* --- one latch a loop --- */

/* loop-simplify would make nested loops of some headers with several back edges (one for iterations
 * that change a variable, one for those that do not), and lanes would then run their iterations
 * one after another. A common latch keeps one loop. */
void ln_merge_latches(Lanes *l) {
  if (!make_blocks(l))
    return;
  graph_loops(&l->g);
  for (uint32_t n = 0; n < l->g.loops.len; n++) {
    const GraphLoop *loop = &l->g.loops.data[n];
    if (loop->nlatches < 2)
      continue;
    LLVMBasicBlockRef latch = LLVMAppendBasicBlockInContext(l->cg->context, l->f, "latch");
    LLVMPositionBuilderAtEnd(l->b, latch);
    l_br(l->b, l->g.nodes[loop->header].block);
    graph_join_latches(&l->g, loop, l->b, latch, latch);
  }
}

/* Units of the context in reverse post-order of their first blocks, so that a loop's blocks are
 * contiguous. */
static uint32_t put_in_order(Lanes *l, uint32_t context, uint32_t n) {
  for (uint32_t k = 0; k < l->nblocks; k++) {
    uint32_t own = ln_own_loop(l, k);
    if (l->blocks[k].in->loop == context)
      l->order[l->blocks[k].place = n++] = k;
    else if (own != GRAPH_NONE && l->loops.data[own].in->parent == context)
      n = put_in_order(l, own, n);
  }
  return n;
}

bool ln_find_flow(Lanes *l) {
  if (!make_blocks(l))
    return false;
  graph_post_dominators(&l->g);
  for (uint32_t k = 0; k < l->nblocks; k++)
    if (!l->g.nodes[k].ends)
      return false;
  if (!find_loops(l))
    return false;
  l->order = ARENA_ARRAY(l->arena, uint32_t, l->nblocks);
  return put_in_order(l, GRAPH_NONE, 0) == l->nblocks;
}

/* --- regions --- */

static void find_region(Lanes *l, LaneBlock *d) {
  VEC(uint32_t) work = {0};
  for (uint32_t s = 0; s < d->in->nsucc; s++)
    VEC_PUSH(l->arena, &work, d->in->succ[s]);
  while (work.len) {
    uint32_t k = VEC_POP(&work);
    if (k == d->in->ipdom || ln_in_set(&d->region, k))
      continue;
    ln_add_to(&d->region, k);
    for (uint32_t s = 0; s < l->blocks[k].in->nsucc; s++)
      VEC_PUSH(l->arena, &work, l->blocks[k].in->succ[s]);
  }
}

static void mask_divergent_loops(Lanes *l) {
  for (uint32_t k = 0; k < l->nblocks; k++)
    if (l->blocks[k].in->loop != GRAPH_NONE && l->loops.data[l->blocks[k].in->loop].divergent)
      l->blocks[k].masked = l->blocks[k].joins = true;
  for (uint32_t n = 0; n < l->loops.len; n++) {
    uint32_t parent = l->loops.data[n].in->parent;
    if (parent != GRAPH_NONE && l->loops.data[parent].divergent)
      l->loops.data[n].masked = true;
  }
}

static bool stays_in(const Lanes *l, const LaneBlock *d, uint32_t loop) {
  const BlockSet *blocks = &l->loops.data[loop].blocks;
  for (unsigned k = 0; k < LANES_WORDS; k++)
    if (d->region.words[k] & ~blocks->words[k])
      return false;
  return d->in->ipdom != GRAPH_NONE && ln_in_set(blocks, d->in->ipdom);
}

/* The sides of a divergent branch run one after the other: a block runs after the effects of the
 * blocks in front of it in the order, also of those of the other side. */
static void make_dirty(Lanes *l, const LaneBlock *d) {
  bool dirty = false;
  for (uint32_t place = 0; place < l->nblocks; place++) {
    LaneBlock *x = &l->blocks[l->order[place]];
    if (!ln_in_set(&d->region, l->order[place]))
      continue;
    x->dirty |= dirty;
    dirty |= x->writes;
  }
}

/* A divergent branch masks units of its own context and of the contexts around it. Inside a loop
 * that lies in its region, control is uniform again among the lanes that run the loop. */
void ln_split(Lanes *l, uint32_t block) {
  LaneBlock *d = &l->blocks[block];
  assert(!d->splits && d->in->nsucc == 2 && !d->in->trap);
  d->splits = true;
  find_region(l, d);
  make_dirty(l, d);
  for (uint32_t n = d->in->loop; n != GRAPH_NONE; n = l->loops.data[n].in->parent)
    l->loops.data[n].divergent |= !stays_in(l, d, n);
  for (uint32_t k = 0; k < l->nblocks; k++) {
    bool between = ln_in_set(&d->region, k);
    if (!between && k != d->in->ipdom)
      continue;
    LaneBlock *x = &l->blocks[k];
    uint32_t own = ln_own_loop(l, k);
    if (ln_loop_has(l, x->in->loop, block)) {
      x->joins = true;
      if (between && own != GRAPH_NONE)
        l->loops.data[own].divergent = true;
      else if (between)
        x->masked = true;
    } else if (own != GRAPH_NONE && between &&
               ln_loop_has(l, l->loops.data[own].in->parent, block)) {
      l->loops.data[own].masked = true;
    }
  }
  mask_divergent_loops(l);
}
