/* Host atomics: on the host a block runs on one OS thread, so atomics on its shared memory are loads and stores.
 *
 * In: a module whose atomics on shared memory have the scope "singlethread". They are atomic until here, so that what makes lanes of
 * threads keeps each in one piece. */
#include "codegen/host.h"

static LLVMValueRef chosen(LLVMBuilderRef b, LLVMIntPredicate p, LLVMValueRef x, LLVMValueRef y) {
  return LLVMBuildSelect(b, LLVMBuildICmp(b, p, x, y, ""), x, y, "");
}

/* What is stored; NULL if the operation stays as it is. */
static LLVMValueRef result_of(LLVMBuilderRef b, LLVMAtomicRMWBinOp op, LLVMValueRef old,
                              LLVMValueRef v) {
  switch (op) {
  case LLVMAtomicRMWBinOpXchg: return v;
  case LLVMAtomicRMWBinOpAdd: return LLVMBuildAdd(b, old, v, "");
  case LLVMAtomicRMWBinOpSub: return LLVMBuildSub(b, old, v, "");
  case LLVMAtomicRMWBinOpAnd: return LLVMBuildAnd(b, old, v, "");
  case LLVMAtomicRMWBinOpOr: return LLVMBuildOr(b, old, v, "");
  case LLVMAtomicRMWBinOpXor: return LLVMBuildXor(b, old, v, "");
  case LLVMAtomicRMWBinOpFAdd: return LLVMBuildFAdd(b, old, v, "");
  case LLVMAtomicRMWBinOpMax: return chosen(b, LLVMIntSGT, old, v);
  case LLVMAtomicRMWBinOpMin: return chosen(b, LLVMIntSLT, old, v);
  case LLVMAtomicRMWBinOpUMax: return chosen(b, LLVMIntUGT, old, v);
  case LLVMAtomicRMWBinOpUMin: return chosen(b, LLVMIntULT, old, v);
  default: return NULL;
  }
}

static void relax(Cg *cg, LLVMValueRef i) {
  LLVMBuilderRef b = cg->builder;
  LLVMValueRef p = LLVMGetOperand(i, 0), v = LLVMGetOperand(i, 1);
  unsigned align = LLVMGetAlignment(i);
  LLVMPositionBuilderBefore(b, i);
  LLVMValueRef old = LLVMBuildLoad2(b, LLVMTypeOf(v), p, "");
  LLVMSetAlignment(old, align);
  LLVMValueRef now = result_of(b, LLVMGetAtomicRMWBinOp(i), old, v);
  if (!now) {
    LLVMInstructionEraseFromParent(old);
    return;
  }
  LLVMSetAlignment(LLVMBuildStore(b, now, p), align);
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
