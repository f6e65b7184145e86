/* Lanes: loops of which LLVM makes vectors in the code of one thread. See lanes.h; costs.c asks.
 *
 * An innermost counting loop that reads rows of arrays, stores nothing, and from which only sums,
 * minima and such of integers come, has neighbouring iterations that are as independent as
 * neighbouring threads are. LLVM writes it with vectors of them, which read what is contiguous, so
 * lanes have nothing left to save in it. What is not known here is no such loop. */
#include "codegen/lanes/private.h"
#include "codegen/llvm/match.h"

static LLVMValueRef latch_value(const Lanes *l, uint32_t loop, LLVMValueRef phi) {
  return graph_incoming(phi, l->blocks[l->loops.data[loop].latch].in->block);
}

static bool is_in(Lanes *l, uint32_t loop, LLVMValueRef v) {
  uint32_t at = LLVMIsAInstruction(v) ? graph_number(&l->g, LLVMGetInstructionParent(v))
                                      : GRAPH_NONE;
  return at != GRAPH_NONE && ln_loop_has(l, loop, at);
}

/* The same in all iterations. */
static bool is_kept(Lanes *l, uint32_t loop, LLVMValueRef v, int depth) {
  enum { DEEPEST = 4 };
  if (!is_in(l, loop, v))
    return true;
  bool kept = depth < DEEPEST && !LLVMIsAPHINode(v) && cg_only_computes(v);
  for (int k = 0; kept && k < LLVMGetNumOperands(v); k++)
    kept = is_kept(l, loop, LLVMGetOperand(v, (unsigned)k), depth + 1);
  return kept;
}

static bool is_head_phi(Lanes *l, uint32_t loop, LLVMValueRef v) {
  return LLVMIsAPHINode(v) &&
         graph_number(&l->g, LLVMGetInstructionParent(v)) == l->loops.data[loop].in->header;
}

bool ln_counts_by_one(Lanes *l, uint32_t loop, LLVMValueRef v) {
  if (!is_head_phi(l, loop, v))
    return false;
  LLVMValueRef next = latch_value(l, loop, v);
  return cg_is_op(next, LLVMAdd) && LLVMGetOperand(next, 0) == v &&
         cg_is_number(LLVMGetOperand(next, 1), 1);
}

/* Is it one more in each iteration than in the last, or the same in all? */
static bool counts(Lanes *l, uint32_t loop, LLVMValueRef v, int depth) {
  enum { DEEPEST = 6 };
  v = cg_peel(v);
  if (ln_counts_by_one(l, loop, v) || is_kept(l, loop, v, 0))
    return true;
  if (depth == DEEPEST)
    return false;
  LLVMValueRef x = ln_unwrapped(v);
  if (x)
    return counts(l, loop, x, depth + 1);
  if (!cg_is_op(v, LLVMAdd) && !cg_is_op(v, LLVMOr) && !cg_is_op(v, LLVMSub))
    return false;
  bool first = is_kept(l, loop, LLVMGetOperand(v, 0), 0),
       second = is_kept(l, loop, LLVMGetOperand(v, 1), 0);
  return first != second && (second || !cg_is_op(v, LLVMSub)) &&
         counts(l, loop, LLVMGetOperand(v, first), depth + 1);
}

static bool reads_a_row(Lanes *l, uint32_t loop, LLVMValueRef load) {
  LLVMValueRef p = LLVMGetOperand(load, 0);
  if (is_kept(l, loop, p, 0))
    return true;
  return LLVMIsAGetElementPtrInst(p) && LLVMGetNumOperands(p) == 2 &&
         is_kept(l, loop, LLVMGetOperand(p, 0), 0) && counts(l, loop, LLVMGetOperand(p, 1), 0) &&
         LLVMABISizeOfType(l->cg->layout, LLVMGetGEPSourceElementType(p)) ==
             LLVMABISizeOfType(l->cg->layout, LLVMTypeOf(load));
}

/* Is v made of the phi by operations of one kind, whose order does not matter? */
static bool gathers_up(Lanes *l, uint32_t loop, LLVMValueRef v, LLVMValueRef phi, LLVMOpcode *op,
                       int depth) {
  enum { DEEPEST = 4 };
  if (v == phi)
    return true;
  if (depth == DEEPEST || !is_in(l, loop, v) || is_head_phi(l, loop, v))
    return false;
  if (LLVMIsAPHINode(v)) {
    for (unsigned k = 0; k < LLVMCountIncoming(v); k++)
      if (!gathers_up(l, loop, LLVMGetIncomingValue(v, k), phi, op, depth + 1))
        return false;
    return true;
  }
  if (LLVMIsASelectInst(v))
    return gathers_up(l, loop, LLVMGetOperand(v, 1), phi, op, depth + 1) &&
           gathers_up(l, loop, LLVMGetOperand(v, 2), phi, op, depth + 1);
  LLVMOpcode own = LLVMGetInstructionOpcode(v);
  if (own != LLVMAdd && own != LLVMAnd && own != LLVMOr && own != LLVMXor && !ln_extreme(v))
    return false;
  if (*op && *op != own)
    return false;
  *op = own;
  return gathers_up(l, loop, LLVMGetOperand(v, 0), phi, op, depth + 1) ||
         gathers_up(l, loop, LLVMGetOperand(v, 1), phi, op, depth + 1);
}

static bool is_reduction(Lanes *l, uint32_t loop, LLVMValueRef phi) {
  LLVMOpcode op = 0;
  return LLVMGetTypeKind(LLVMTypeOf(phi)) == LLVMIntegerTypeKind &&
         gathers_up(l, loop, latch_value(l, loop, phi), phi, &op, 0);
}

/* Does LLVM write it with vectors of iterations, or leave it to one of them? */
static bool is_easy(Lanes *l, uint32_t loop, LLVMValueRef i) {
  if (LLVMIsAPHINode(i))
    return !is_head_phi(l, loop, i) || ln_counts_by_one(l, loop, i) || is_reduction(l, loop, i);
  if (LLVMIsALoadInst(i))
    return reads_a_row(l, loop, i);
  if (LLVMIsAStoreInst(i) || cg_is_division(i))
    return false;
  if (LLVMIsACallInst(i))
    return ln_is_nothing(i) || ln_vector_form(i) || cg_is_call_of(i, CG_ALL_NAME);
  return LLVMIsATerminatorInst(i) || cg_only_computes(i);
}

bool ln_vectorises_alone(Lanes *l, uint32_t loop) {
  unsigned exits = 0, rows = 0; /* an exit of its own, that of the counter */
  for (uint32_t k = 0; k < l->loops.len; k++)
    if (l->loops.data[k].in->parent == loop)
      return false;
  for (uint32_t k = 0; k < l->nblocks; k++) {
    if (l->blocks[k].in->loop != loop)
      continue;
    for (uint32_t s = 0; s < l->blocks[k].in->nsucc; s++)
      exits += !ln_loop_has(l, loop, l->blocks[k].in->succ[s]);
    for (LLVMValueRef i = LLVMGetFirstInstruction(l->blocks[k].in->block); i;
         i = LLVMGetNextInstruction(i)) {
      if (!is_easy(l, loop, i))
        return false;
      rows += LLVMIsALoadInst(i) != NULL && !is_kept(l, loop, LLVMGetOperand(i, 0), 0);
    }
  }
  return exits == 1 && rows;
}
