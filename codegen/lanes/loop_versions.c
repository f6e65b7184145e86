/* Lanes: loop versioning. A divergent loop gets a version in front of it that runs without masks
 * while all lanes continue. See lanes.h.
 *
 * In `for i in range(grid(1), n, gridsize(1))` all lanes continue until the last iteration or two.
 * The version in front runs while its condition holds in all of them; its exit leads to the header
 * of the original loop, which does the remaining iterations under masks:
 *
 *   before -> header' -> body' -> header' …      header' branches on pyptx.all(condition)
 *               |
 *             header -> body -> header …         the original
 *
 * Versioned are small innermost loops with one exit, at the header, whose condition compares linear
 * values, or one with what stays the same in the loop. For a single thread pyptx.all becomes false
 * (cg_lanes_forget_doubles), and LLVM removes the version. */
#include <assert.h>

#include "codegen/fission/fission.h"
#include "codegen/host/host.h"
#include "codegen/lanes/private.h"
#include "codegen/llvm/copy.h"
#include "codegen/llvm/match.h"

enum { MOST_INSTRUCTIONS = 80, MOST_BLOCKS = 12 };

typedef struct Version {
  Lanes *l;
  const LaneLoop *loop;
  LLVMBasicBlockRef before, header, latch;
  RegionCopy copies;
} Version;

/* --- which loops --- */

bool ln_is_closed(Lanes *l, const LaneLoop *loop, unsigned most_instructions,
                  unsigned most_blocks) {
  unsigned instructions = 0, blocks = 0;
  for (uint32_t k = 0; k < l->nblocks; k++) {
    const LaneBlock *b = &l->blocks[k];
    if (!ln_in_set(&loop->blocks, k))
      continue;
    if (&l->loops.data[b->in->loop] != loop || ++blocks > most_blocks)
      return false;
    for (uint32_t s = 0; s < b->in->nsucc; s++)
      if (k != loop->in->header && !ln_in_set(&loop->blocks, b->in->succ[s]))
        return false;
    for (LLVMValueRef i = LLVMGetFirstInstruction(b->in->block); i; i = LLVMGetNextInstruction(i))
      if (++instructions > most_instructions || cg_is_block_barrier(i) || cg_is_meeting(i) ||
          (k == loop->in->header && cg_lanes_writes(i)))
        return false;
  }
  return true;
}

/* Linear, be it in groups, or the same in all iterations: `for k in range(min(i, n))`. */
static bool is_even(Lanes *l, const LaneLoop *loop, LLVMValueRef v) {
  const LaneValue *own = ln_value(l, v);
  return ln_shape(l, v).kind == SHAPE_STEP || ln_group(l, v).log || !own ||
         !ln_in_set(&loop->blocks, own->block);
}

static bool compares_even(Lanes *l, const LaneLoop *loop, LLVMValueRef c) {
  return LLVMIsAICmpInst(c) && is_even(l, loop, LLVMGetOperand(c, 0)) &&
         is_even(l, loop, LLVMGetOperand(c, 1));
}

/* A phi of the header, of such comparisons: what was asked in front of the loop, and is asked at
 * the end of an iteration, so that a counter cannot wrap. */
static bool joins_even(Lanes *l, const LaneLoop *loop, LLVMValueRef c) {
  bool all = LLVMIsAPHINode(c) &&
             LLVMGetInstructionParent(c) == l->blocks[loop->in->header].in->block;
  for (unsigned k = 0; all && k < LLVMCountIncoming(c); k++)
    all = compares_even(l, loop, LLVMGetIncomingValue(c, k));
  return all;
}

/* A divergent loop with its exit at the header, by a comparison of linear values, or of one with a
 * bound that differs between lanes. */
static bool is_chosen(Lanes *l, const LaneLoop *loop) {
  const LaneBlock *h = &l->blocks[loop->in->header];
  if (!loop->divergent || h->in->nsucc != 2 || h->in->trap ||
      ln_in_set(&loop->blocks, h->in->succ[0]) == ln_in_set(&loop->blocks, h->in->succ[1]))
    return false;
  LLVMValueRef c = LLVMGetCondition(LLVMGetBasicBlockTerminator(h->in->block));
  return (compares_even(l, loop, c) || joins_even(l, loop, c)) &&
         ln_is_closed(l, loop, MOST_INSTRUCTIONS, MOST_BLOCKS);
}

/* --- the copy --- */

/* Traps have the copy's check as a predecessor too. */
void ln_enter_trap(Lanes *l, uint32_t number, const RegionCopy *copies) {
  const LaneBlock *b = &l->blocks[number];
  for (LLVMValueRef phi = b->in->trap ? LLVMGetFirstInstruction(b->in->trap) : NULL;
       phi && LLVMIsAPHINode(phi); phi = LLVMGetNextInstruction(phi))
    for (unsigned k = 0, n = LLVMCountIncoming(phi); k < n; k++)
      if (LLVMGetIncomingBlock(phi, k) == b->in->block) {
        LLVMValueRef v = copy_of(copies, LLVMGetIncomingValue(phi, k));
        LLVMBasicBlockRef from = copy_of_block(copies, b->in->block);
        LLVMAddIncoming(phi, &v, &from, 1);
      }
}

/* The original header's predecessors become its latch and the copy's header. */
static void enter_from_copy(Version *d) {
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

LLVMValueRef ln_call_all(Lanes *l, LLVMValueRef condition, bool value) {
  LLVMTypeRef i1 = l->cg->t.i1, types[] = {i1, i1};
  LLVMValueRef fn = LLVMGetNamedFunction(l->cg->module, CG_ALL_NAME),
               args[] = {condition, l_int(i1, value)};
  if (!fn)
    fn = LLVMAddFunction(l->cg->module, CG_ALL_NAME, LLVMFunctionType(i1, types, 2, 0));
  return l_call(l->b, fn, args, 2);
}

/* Of a phi's comparisons, where its edges come from. */
static LLVMValueRef call_all_before(Lanes *l, LLVMValueRef phi, bool value) {
  LLVMPositionBuilderBefore(l->b, phi);
  LLVMValueRef all = l_phi(l->b, l->cg->t.i1);
  for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
    LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, k);
    LLVMPositionBuilderBefore(l->b, LLVMGetBasicBlockTerminator(from));
    LLVMValueRef call = ln_call_all(l, LLVMGetIncomingValue(phi, k), value);
    LLVMAddIncoming(all, &call, &from, 1);
  }
  return all;
}

static void branch_on_all(Version *d) {
  Lanes *l = d->l;
  LLVMValueRef end = LLVMGetBasicBlockTerminator(copy_of_block(&d->copies, d->header));
  bool holds = ln_in_set(&d->loop->blocks, l->g.nodes[d->loop->in->header].succ[0]);
  Fork fork = {0};
  graph_fork(end, &fork);
  LLVMPositionBuilderBefore(l->b, end);
  LLVMValueRef all = LLVMIsAPHINode(fork.condition) ? call_all_before(l, fork.condition, holds)
                                                    : ln_call_all(l, fork.condition, holds);
  LLVMPositionBuilderBefore(l->b, end);
  l_condbr(l->b, all, holds ? fork.yes : fork.no, d->header);
  LLVMInstructionEraseFromParent(end);
}

/* Is x a phi that advances by what is no constant? */
static bool advances_by_value(LLVMValueRef x, LLVMBasicBlockRef latch) {
  for (unsigned k = 0; LLVMIsAPHINode(x) && k < LLVMCountIncoming(x); k++) {
    LLVMValueRef next = LLVMGetIncomingValue(x, k);
    if (LLVMGetIncomingBlock(x, k) == latch && LLVMIsAInstruction(next) &&
        LLVMGetInstructionOpcode(next) == LLVMAdd)
      return !LLVMIsAConstant(LLVMGetOperand(next, 0)) && !LLVMIsAConstant(LLVMGetOperand(next, 1));
  }
  return false;
}

bool ln_has_stride(const Lanes *l, const LaneLoop *loop) {
  LLVMBasicBlockRef header = l->blocks[loop->in->header].in->block,
                    latch = l->blocks[loop->latch].in->block;
  Fork fork = {0};
  bool has = false;
  if (!graph_fork(LLVMGetBasicBlockTerminator(header), &fork))
    return false;
  for (unsigned k = 0; LLVMIsAICmpInst(fork.condition) && k < 2; k++)
    has |= advances_by_value(LLVMGetOperand(fork.condition, k), latch);
  return has;
}

static void make_version(Lanes *l, const LaneLoop *loop) {
  LLVMBasicBlockRef *blocks = ARENA_ARRAY(l->arena, LLVMBasicBlockRef, loop->in->nnodes);
  uint32_t n = 0;
  Version d = {
      .l = l,
      .loop = loop,
      .header = l->blocks[loop->in->header].in->block,
      .latch = l->blocks[loop->latch].in->block,
  };
  for (uint32_t p = 0; p < l->blocks[loop->in->header].in->npred; p++)
    if (l->blocks[loop->in->header].in->pred[p] != loop->latch)
      d.before = l->blocks[l->blocks[loop->in->header].in->pred[p]].in->block;
  assert(loop->divergent && d.before && n == 0);
  l->strides |= ln_has_stride(l, loop);
  for (uint32_t k = 0; k < l->nblocks; k++)
    if (ln_in_set(&loop->blocks, k))
      blocks[n++] = l->blocks[k].in->block;
  assert(n == loop->in->nnodes);
  d.copies = copy_region(l->cg, blocks, n, d.header, "all");
  for (uint32_t k = 0; k < l->nblocks; k++)
    if (ln_in_set(&loop->blocks, k))
      ln_enter_trap(l, k, &d.copies);
  branch_on_all(&d);
  enter_from_copy(&d);
}

/* --- entry points --- */

Lanes *cg_lanes_analyse_doubled(Cg *cg, LLVMValueRef f, const LanesHow *how) {
  LLVMBasicBlockRef here = LLVMGetInsertBlock(cg->builder);
  Lanes *l = cg_lanes_analyse(cg, f, how);
  bool any = false;
  for (uint32_t k = 0; l && k < l->loops.len; k++)
    if (is_chosen(l, &l->loops.data[k])) {
      make_version(l, &l->loops.data[k]);
      any = true;
    }
  Lanes *doubled = any ? cg_lanes_analyse(cg, f, how) : l;
  if (doubled && ln_make_row_versions(doubled))
    doubled = cg_lanes_analyse(cg, f, how);
  if (here)
    LLVMPositionBuilderAtEnd(cg->builder, here);
  if (doubled)
    doubled->strides = l->strides;
  return doubled;
}

/* Such a division is some twenty operations with a few values at a time, each of which is several
 * registers. More lanes have no registers for that. */
static bool divides_in_loops(const Lanes *l) {
  for (uint32_t k = 0; k < l->values.len; k++) {
    const LaneValue *v = &l->values.data[k];
    if (v->shape.kind == SHAPE_VECTOR && cg_is_division(v->old) && ln_divides(l, v->old) &&
        l->blocks[v->block].in->loop != GRAPH_NONE)
      return true;
  }
  return false;
}

bool cg_lanes_stride(const Lanes *l) { return l->strides && !divides_in_loops(l); }

void cg_lanes_forget_doubles(Cg *cg, LLVMValueRef f) {
  LLVMValueRef fn = LLVMGetNamedFunction(cg->module, CG_ALL_NAME);
  LLVMUseRef use = fn ? LLVMGetFirstUse(fn) : NULL;
  while (use) {
    LLVMValueRef call = LLVMGetUser(use);
    use = LLVMGetNextUse(use);
    if (f && LLVMGetBasicBlockParent(LLVMGetInstructionParent(call)) != f)
      continue;
    LLVMReplaceAllUsesWith(call, l_int(cg->t.i1, 0));
    LLVMInstructionEraseFromParent(call);
  }
  if (fn && !LLVMGetFirstUse(fn))
    LLVMDeleteFunction(fn);
}
