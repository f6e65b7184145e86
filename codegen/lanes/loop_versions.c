/* Lanes: loops that lanes leave one by one get a copy in front that they run together. See lanes.h.
 *
 * `for i in range(grid(1), n, gridsize(1))`: until the last turn or two all lanes go on. A copy of
 * the loop runs as long as its condition holds in all of them, without masks, and leaves to the
 * loop itself, which goes on from there:
 *
 *   before -> header' -> body' -> header' …      header' asks pyptx.all(condition)
 *               |
 *             header -> body -> header …         as it was
 *
 * Of one thread pyptx.all is false (cg_lanes_forget_doubles): it needs no copy. */
#include "codegen/fission/fission.h"
#include "codegen/host/host.h"
#include "codegen/lanes/private.h"
#include "codegen/llvm/copy.h"

enum { MOST_INSTRUCTIONS = 80, MOST_BLOCKS = 12 };

typedef struct Double {
  Lanes *l;
  const LaneLoop *loop;
  LLVMBasicBlockRef before, header, latch;
  RegionCopy copies;
} Double;

/* --- which loops --- */

static bool is_small_and_closed(Lanes *l, const LaneLoop *loop) {
  unsigned instructions = 0, blocks = 0;
  for (uint32_t k = 0; k < l->nblocks; k++) {
    const LaneBlock *b = &l->blocks[k];
    if (!in_set(&loop->blocks, k))
      continue;
    if (&l->loops.data[b->in->loop] != loop || ++blocks > MOST_BLOCKS)
      return false;
    for (uint32_t s = 0; s < b->in->nsucc; s++)
      if (k != loop->in->header && !in_set(&loop->blocks, b->in->succ[s]))
        return false;
    for (LLVMValueRef i = LLVMGetFirstInstruction(b->in->block); i; i = LLVMGetNextInstruction(i))
      if (++instructions > MOST_INSTRUCTIONS || cg_is_block_barrier(i) || cg_is_meeting(i) ||
          (k == loop->in->header && cg_lanes_writes(i)))
        return false;
  }
  return true;
}

/* Left by lanes one by one, because a number of theirs that rises by steps comes to its end. */
static bool is_chosen(Lanes *l, const LaneLoop *loop) {
  const LaneBlock *h = &l->blocks[loop->in->header];
  if (!loop->divergent || h->in->nsucc != 2 || h->in->trap ||
      in_set(&loop->blocks, h->in->succ[0]) == in_set(&loop->blocks, h->in->succ[1]))
    return false;
  LLVMValueRef c = LLVMGetCondition(LLVMGetBasicBlockTerminator(h->in->block));
  return LLVMIsAICmpInst(c) && ln_shape(l, LLVMGetOperand(c, 0)).kind == SHAPE_STEP &&
         ln_shape(l, LLVMGetOperand(c, 1)).kind == SHAPE_STEP && is_small_and_closed(l, loop);
}

/* --- the copy --- */

/* Blocks that end in traps are entered from the copy, too. */
static void enter_traps(Double *d, uint32_t number) {
  const LaneBlock *b = &d->l->blocks[number];
  for (LLVMValueRef phi = b->in->trap ? LLVMGetFirstInstruction(b->in->trap) : NULL;
       phi && LLVMIsAPHINode(phi); phi = LLVMGetNextInstruction(phi))
    for (unsigned k = 0, n = LLVMCountIncoming(phi); k < n; k++)
      if (LLVMGetIncomingBlock(phi, k) == b->in->block) {
        LLVMValueRef v = copy_of(&d->copies, LLVMGetIncomingValue(phi, k));
        LLVMBasicBlockRef from = copy_of_block(&d->copies, b->in->block);
        LLVMAddIncoming(phi, &v, &from, 1);
      }
}

/* The loop's own header is entered from the copy's. */
static void follow_copy(Double *d) {
  Lanes *l = d->l;
  LLVMBasicBlockRef from = copy_of_block(&d->copies, d->header);
  for (LLVMValueRef phi = LLVMGetFirstInstruction(d->header), next; LLVMIsAPHINode(phi);
       phi = next) {
    next = LLVMGetNextInstruction(phi);
    LLVMPositionBuilderBefore(l->b, phi);
    LLVMValueRef now = l_phi(l->b, LLVMTypeOf(phi)), copy = copy_of(&d->copies, phi);
    LLVMAddIncoming(now, &copy, &from, 1);
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++)
      if (LLVMGetIncomingBlock(phi, k) == d->latch) {
        LLVMValueRef v = LLVMGetIncomingValue(phi, k);
        LLVMAddIncoming(now, &v, &d->latch, 1);
      }
    LLVMReplaceAllUsesWith(phi, now);
    LLVMInstructionEraseFromParent(phi);
  }
  graph_redirect(LLVMGetBasicBlockTerminator(d->before), d->header, from);
}

static void ask_all(Double *d) {
  Lanes *l = d->l;
  LLVMTypeRef i1 = l->cg->t.i1, types[] = {i1, i1};
  LLVMValueRef fn = LLVMGetNamedFunction(l->cg->module, CG_ALL_NAME),
               end = LLVMGetBasicBlockTerminator(copy_of_block(&d->copies, d->header));
  if (!fn)
    fn = LLVMAddFunction(l->cg->module, CG_ALL_NAME, LLVMFunctionType(i1, types, 2, 0));
  bool holds = in_set(&d->loop->blocks, l->g.nodes[d->loop->in->header].succ[0]);
  Fork fork = {0};
  graph_fork(end, &fork);
  LLVMPositionBuilderBefore(l->b, end);
  LLVMValueRef args[] = {fork.condition, l_int(i1, holds)};
  LLVMValueRef all = l_call(l->b, fn, args, 2);
  l_condbr(l->b, all, holds ? fork.yes : fork.no, d->header);
  LLVMInstructionEraseFromParent(end);
}

/* x goes on by a number that is not known? */
static bool has_stride(const Double *d, LLVMValueRef x) {
  for (unsigned k = 0; LLVMIsAPHINode(x) && k < LLVMCountIncoming(x); k++) {
    LLVMValueRef next = LLVMGetIncomingValue(x, k);
    if (LLVMGetIncomingBlock(x, k) == d->latch && LLVMIsAInstruction(next) &&
        LLVMGetInstructionOpcode(next) == LLVMAdd)
      return !LLVMIsAConstant(LLVMGetOperand(next, 0)) && !LLVMIsAConstant(LLVMGetOperand(next, 1));
  }
  return false;
}

static void make_double(Lanes *l, const LaneLoop *loop) {
  LLVMBasicBlockRef *blocks = ARENA_ARRAY(l->arena, LLVMBasicBlockRef, loop->in->nnodes);
  uint32_t n = 0;
  Double d = {
      .l = l,
      .loop = loop,
      .header = l->blocks[loop->in->header].in->block,
      .latch = l->blocks[loop->latch].in->block,
  };
  for (uint32_t p = 0; p < l->blocks[loop->in->header].in->npred; p++)
    if (l->blocks[loop->in->header].in->pred[p] != loop->latch)
      d.before = l->blocks[l->blocks[loop->in->header].in->pred[p]].in->block;
  LLVMValueRef condition = LLVMGetCondition(LLVMGetBasicBlockTerminator(d.header));
  l->strides |= has_stride(&d, LLVMGetOperand(condition, 0)) ||
                has_stride(&d, LLVMGetOperand(condition, 1));
  for (uint32_t k = 0; k < l->nblocks; k++)
    if (in_set(&loop->blocks, k))
      blocks[n++] = l->blocks[k].in->block;
  d.copies = copy_region(l->cg, blocks, n, d.header, "all");
  for (uint32_t k = 0; k < l->nblocks; k++)
    if (in_set(&loop->blocks, k))
      enter_traps(&d, k);
  ask_all(&d);
  follow_copy(&d);
}

/* --- the door --- */

Lanes *cg_lanes_analyse_doubled(Cg *cg, LLVMValueRef f, const LanesHow *how) {
  LLVMBasicBlockRef here = LLVMGetInsertBlock(cg->builder);
  Lanes *l = cg_lanes_analyse(cg, f, how);
  bool any = false;
  for (uint32_t k = 0; l && k < l->loops.len; k++)
    if (is_chosen(l, &l->loops.data[k])) {
      make_double(l, &l->loops.data[k]);
      any = true;
    }
  if (here)
    LLVMPositionBuilderAtEnd(cg->builder, here);
  if (!any)
    return l;
  Lanes *doubled = cg_lanes_analyse(cg, f, how);
  if (doubled)
    doubled->strides = l->strides;
  return doubled;
}

bool cg_lanes_stride(const Lanes *l) { return l->strides; }

void cg_lanes_forget_doubles(Cg *cg) {
  LLVMValueRef fn = LLVMGetNamedFunction(cg->module, CG_ALL_NAME);
  if (!fn)
    return;
  for (LLVMUseRef use; (use = LLVMGetFirstUse(fn));) {
    LLVMValueRef call = LLVMGetUser(use);
    LLVMReplaceAllUsesWith(call, l_int(cg->t.i1, 0));
    LLVMInstructionEraseFromParent(call);
  }
  LLVMDeleteFunction(fn);
}
