/* Lanes: fetching what the block that runs next reads and writes.
 *
 *   tile[t] = x[row, t]   # row = blockIdx.x
 *   ...
 *   out[row, t] = tile[t]
 *
 * A block with barriers reads memory in its first segment and writes it in its last one, all at
 * once, and computes in between without. So the CPU waits for each block's memory anew: its
 * prefetchers look a little ahead of what has been asked for, and what it executes ahead of time
 * ends long before the next block begins. So while a block reads a row, it fetches that of the
 * next. The address is the same but for the block's number. */
#include "codegen/lanes/private.h"
#include "codegen/llvm/match.h"

enum { DEEPEST = 8 };

/* By how much the integer or address v (in bytes) grows from a block to the next, in 64 bits; NULL
 * if that is not found. A wrong guess would fetch in vain. */
static LLVMValueRef growth(Lanes *l, LLVMValueRef v, int depth) {
  LLVMTypeRef i64 = l->cg->t.i64;
  if (cg_peel(v) == LLVMGetParam(l->f, l->how.next))
    return l_int(i64, 1);
  if (!depth-- || !LLVMIsAInstruction(v))
    return NULL;
  LLVMValueRef x = LLVMGetOperand(v, 0), grown = NULL;
  if (cg_is_extension(v))
    return growth(l, x, depth);
  if (cg_is_op(v, LLVMAdd) || cg_is_disjoint_or(v)) {
    grown = growth(l, x, depth);
    return grown ? grown : growth(l, LLVMGetOperand(v, 1), depth);
  }
  if (LLVMIsAGetElementPtrInst(v) && LLVMGetNumOperands(v) == 2) {
    uint64_t size = LLVMABISizeOfType(l->cg->layout, LLVMGetGEPSourceElementType(v));
    grown = growth(l, LLVMGetOperand(v, 1), depth);
    return grown ? l_mul(l->b, grown, l_int(i64, size)) : growth(l, x, depth);
  }
  if (cg_is_op(v, LLVMShl) && LLVMIsAConstantInt(LLVMGetOperand(v, 1))) {
    grown = growth(l, x, depth);
    return grown ? l_shl(l->b, grown, l_zext(l->b, LLVMGetOperand(v, 1), i64)) : NULL;
  }
  for (unsigned k = 0; cg_is_op(v, LLVMMul) && !grown && k < 2; k++) {
    LLVMValueRef by = LLVMGetOperand(v, 1 - k);
    if (ln_is_uniform(ln_shape(l, by)) && ln_is_here(l, by) &&
        (grown = growth(l, LLVMGetOperand(v, k), depth)))
      grown = l_mul(l->b, grown, l_zext(l->b, ln_scalar(l, by), i64));
  }
  return grown;
}

void ln_fetch_for_next(Lanes *l, LLVMValueRef pointer, LLVMValueRef first, uint64_t bytes,
                       bool writes) {
  if (!l->how.next || l->blocks[l->at].in->loop != GRAPH_NONE)
    return;
  LLVMValueRef by = growth(l, pointer, DEEPEST);
  for (uint64_t k = 0; by && k < bytes; k += LANES_LINE_BYTES) {
    LLVMValueRef at = l_add(l->b, by, l_int(l->cg->t.i64, k));
    ln_prefetch(l, l_gep(l->b, l->cg->t.i8, first, &at, 1), writes);
  }
}
