/* Host atomics: a block runs on one OS thread, so atomics on its shared memory become loads and
 * stores.
 *
 * In: a module in which atomics on shared memory have the scope "singlethread", after the entry is
 * written. Until then they are atomics, so that vectorisation does not take the load and the store
 * of one apart. Compare-and-exchange, and operations that need a loop, stay as they are. */
#include "codegen/host/host.h"

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

void cg_host_relax_atomics(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
        next = LLVMGetNextInstruction(i);
        if (LLVMIsAAtomicRMWInst(i) && LLVMIsAtomicSingleThread(i))
          relax(cg, i);
      }
}
