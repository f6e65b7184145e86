/* Host atomics: on the host a block runs on one OS thread, so atomics on its shared memory are
 * loads and stores.
 *
 * In: a module whose atomics on shared memory have the scope "singlethread". They are atomic until
 * here, so that what makes lanes of threads keeps each in one piece. */
#include "codegen/host/host.h"

static void relax(Cg *cg, LLVMValueRef i) {
  LLVMBuilderRef b = cg->builder;
  LLVMValueRef p = LLVMGetOperand(i, 0), v = LLVMGetOperand(i, 1);
  unsigned align = LLVMGetAlignment(i);
  LLVMPositionBuilderBefore(b, i);
  LLVMValueRef old = l_load(b, LLVMTypeOf(v), p);
  LLVMSetAlignment(old, align);
  LLVMValueRef now = cg_atomic_result(b, LLVMGetAtomicRMWBinOp(i), old, v);
  if (!now) { /* it stays as it is */
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
