/* Host atomics: a block runs on one OS thread, so atomics on its shared memory become loads and
 * stores. Minima and maxima of other memory are left out where they would change nothing.
 *
 * In: a module in which atomics on shared memory have the scope "singlethread", after the entry is
 * written. Until then they are atomics, so that vectorisation does not take the load and the store
 * of one apart. Compare-and-exchange, and operations that need a loop, stay as they are.
 *
 * No CPU of x86 has an atomic minimum: it is a compare-and-exchange in a loop, which takes the
 * cache line from other threads, and some twenty cycles, even if the number stays as it is, which
 * is what it mostly does. So the number is read first:
 *
 *   before -> block              where it is no more than the operand (no less, of a maximum)
 *     |         |
 *     +-> change -> block        the atomic operation, which asks again
 *
 * These operations order nothing else (they are monotonic), and one that writes what is there
 * already cannot be told from a load: who sees the number does not see who wrote it. */
#include "codegen/host/host.h"
#include "codegen/llvm/graph.h"

static void relax(Cg *cg, LLVMValueRef i) {
  LLVMBuilderRef b = cg->builder;
  LLVMValueRef p = LLVMGetOperand(i, 0), v = LLVMGetOperand(i, 1);
  unsigned align = LLVMGetAlignment(i);
  LLVMPositionBuilderBefore(b, i);
  LLVMValueRef old = l_load(b, LLVMTypeOf(v), p);
  LLVMSetAlignment(old, align);
  LLVMValueRef now = cg_atomic_result(b, LLVMGetAtomicRMWBinOp(i), old, v);
  if (!now) { /* no plain form: the atomic stays */
    LLVMInstructionEraseFromParent(old);
    return;
  }
  LLVMSetAlignment(l_store(b, now, p), align);
  LLVMReplaceAllUsesWith(i, old);
  LLVMInstructionEraseFromParent(i);
}

/* The comparison of the operand with what is there that holds if it changes that; 0: not known. */
LLVMIntPredicate cg_host_changes_if(LLVMValueRef i) {
  switch (LLVMGetAtomicRMWBinOp(i)) {
  case LLVMAtomicRMWBinOpMin: return LLVMIntSLT;
  case LLVMAtomicRMWBinOpMax: return LLVMIntSGT;
  case LLVMAtomicRMWBinOpUMin: return LLVMIntULT;
  case LLVMAtomicRMWBinOpUMax: return LLVMIntUGT;
  default: return (LLVMIntPredicate)0;
  }
}

static void read_first(Cg *cg, LLVMValueRef i) {
  LLVMBuilderRef b = cg->builder;
  LLVMValueRef p = LLVMGetOperand(i, 0), v = LLVMGetOperand(i, 1);
  GraphDetour d = graph_detour(cg, i, "change");
  LLVMValueRef now = l_load(b, LLVMTypeOf(v), p);
  LLVMSetAlignment(now, LLVMGetAlignment(i));
  LLVMSetOrdering(now, LLVMAtomicOrderingMonotonic);
  l_condbr(b, l_icmp(b, cg_host_changes_if(i), v, now), d.apart, d.block);
  graph_join_detour(&d, i, now);
}

void cg_host_relax_atomics(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
        next = LLVMGetNextInstruction(i);
        if (LLVMIsAAtomicRMWInst(i) && LLVMIsAtomicSingleThread(i))
          relax(cg, i);
        else if (LLVMIsAAtomicRMWInst(i) && cg_host_changes_if(i) &&
                 LLVMGetOrdering(i) == LLVMAtomicOrderingMonotonic)
          read_first(cg, i);
      }
}
