/* NVPTX: the grid's barrier, a sense-reversing counter.
 *
 * The launch has one 32-bit word. Each block adds 1 to it when its threads have arrived, and block
 * (0, 0, 0) adds as much as makes the sum over all blocks 2**31. So the top bit changes when the
 * last block arrives, and the others spin on it. Two barriers add 2**32, so the word needs no reset
 * between them. A block that reads it late still sees the change, since no barrier can complete
 * without that block. Thread (0, 0, 0) of each block arrives and waits for it, between two barriers
 * of the block; by causality order its fences cover the accesses of the block's other threads.
 * Source: the arrival counter of CUDA's cooperative groups, as NVIDIA's programming guide describes
 * grid synchronisation. */
#include <assert.h>

#include "codegen/nvptx/nvptx.h"

enum { SPINS_PER_LOOK = 256 }; /* reading the RtTrap goes over the bus */

static LLVMValueRef any_of_three(Lower *lw, SpecialReg first) {
  LLVMValueRef v = cg_nvptx_sreg(lw, first);
  for (unsigned k = 1; k < 3; k++)
    v = l_or(lw->b, v, cg_nvptx_sreg(lw, first + k));
  return v;
}

static LLVMValueRef grid_share(Lower *lw) {
  LLVMValueRef blocks = cg_nvptx_sreg(lw, SREG_NCTAID);
  for (unsigned k = 1; k < 3; k++)
    blocks = l_mul(lw->b, blocks, cg_nvptx_sreg(lw, SREG_NCTAID + k));
  LLVMValueRef others = l_sub(lw->b, blocks, lw_i32(lw, 1));
  LLVMValueRef rest = l_sub(lw->b, lw_i32(lw, INT32_MIN), others);
  LLVMValueRef is_first = l_icmp(lw->b, LLVMIntEQ, any_of_three(lw, SREG_CTAID), lw_i32(lw, 0));
  return l_select(lw->b, is_first, rest, lw_i32(lw, 1));
}

/* If a thread has stopped with an exception, its block may never arrive. So the waiting thread
 * polls the RtTrap every SPINS_PER_LOOK iterations, and stops too if it is filled. */
static void leave_if_trapped(Lower *lw, LLVMValueRef trap, LLVMValueRef spins,
                             LLVMBasicBlockRef wait) {
  LLVMBasicBlockRef look = lw_block(lw, "look"), stop = lw_block(lw, "stop");
  LLVMValueRef n = l_add(lw->b, l_load(lw->b, lw->t->i32, spins), lw_i32(lw, 1));
  l_store(lw->b, n, spins);
  LLVMValueRef rest = l_and(lw->b, n, lw_i32(lw, SPINS_PER_LOOK - 1));
  l_condbr(lw->b, l_icmp(lw->b, LLVMIntEQ, rest, lw_i32(lw, 0)), look, wait);
  lw_at(lw, look);
  LLVMValueRef state = l_load(lw->b, lw->t->i32, trap);
  LLVMSetVolatile(state, 1);
  l_condbr(lw->b, l_icmp(lw->b, LLVMIntEQ, state, lw_i32(lw, 0)), wait, stop);
  lw_at(lw, stop);
  cg_nvptx_stop(lw);
}

static void arrive_and_wait(Lower *lw, LLVMValueRef word, LLVMValueRef trap) {
  LLVMBasicBlockRef wait = lw_block(lw, "wait"), again = lw_block(lw, "again"),
                    met = lw_block(lw, "met");
  unsigned scope = LLVMGetSyncScopeID(lw->cg->context, "device", 6);
  cg_nvptx_fence(lw, FENCE_DEVICE);
  LLVMValueRef old = LLVMBuildAtomicRMWSyncScope(lw->b, LLVMAtomicRMWBinOpAdd, word, grid_share(lw),
                                                 LLVMAtomicOrderingMonotonic, scope);
  LLVMValueRef spins = trap ? lw_alloca(lw, lw->t->i32, 4, "spins") : NULL;
  if (trap)
    l_store(lw->b, lw_i32(lw, 0), spins);
  l_br(lw->b, wait);
  lw_at(lw, wait);
  LLVMValueRef now = l_load(lw->b, lw->t->i32, word);
  LLVMSetVolatile(now, 1);
  LLVMValueRef change = l_xor(lw->b, old, now);
  l_condbr(lw->b, l_icmp(lw->b, LLVMIntSLT, change, lw_i32(lw, 0)), met, again);
  lw_at(lw, again);
  if (trap)
    leave_if_trapped(lw, trap, spins, wait);
  else
    l_br(lw->b, wait);
  lw_at(lw, met);
  cg_nvptx_fence(lw, FENCE_DEVICE);
}

static void grid_body(Lower *lw, LLVMValueRef word, LLVMValueRef trap) {
  LLVMBasicBlockRef lead = lw_block(lw, "lead"), done = lw_block(lw, "done");
  cg_nvptx_barrier(lw);
  l_condbr(lw->b, l_icmp(lw->b, LLVMIntEQ, any_of_three(lw, SREG_TID), lw_i32(lw, 0)), lead, done);
  lw_at(lw, lead);
  arrive_and_wait(lw, word, trap);
  l_br(lw->b, done);
  lw_at(lw, done);
  cg_nvptx_barrier(lw);
  l_ret_void(lw->b);
}

void cg_nvptx_grid_barrier(Lower *lw) {
  static const char *const attributes[] = {"noinline", "nounwind", "convergent", NULL};
  NvptxState *s = lw->cg->target_state;
  assert(lw->cg->meets_grid);
  LLVMTypeRef address = lw->t->space[SPACE_GLOBAL], types[] = {address, address};
  unsigned n = lw->cg->has_trap ? 2 : 1;
  if (!s->grid_barrier) {
    s->grid_barrier = LLVMAddFunction(lw->cg->module, "pyptx$grid_barrier",
                                      LLVMFunctionType(lw->t->none, types, n, 0));
    Lower inner = cg_nvptx_open_function(lw, s->grid_barrier, attributes);
    grid_body(&inner, LLVMGetParam(s->grid_barrier, 0),
              n > 1 ? LLVMGetParam(s->grid_barrier, 1) : NULL);
    LLVMDisposeBuilder(inner.b);
  }
  LLVMValueRef args[] = {cg_nvptx_grid_address(lw), n > 1 ? cg_nvptx_trap_address(lw) : NULL};
  l_call(lw->b, s->grid_barrier, args, n);
}
