/* Match: see match.h. */
#include "codegen/llvm/match.h"

#include <string.h>

bool cg_is_call_of(LLVMValueRef i, const char *name) {
  if (!LLVMIsACallInst(i))
    return false;
  LLVMValueRef callee = LLVMGetCalledValue(i);
  size_t n;
  const char *called = LLVMGetValueName2(callee, &n);
  return LLVMIsAFunction(callee) && n == strlen(name) && memcmp(called, name, n) == 0;
}

bool cg_only_computes(LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
  case LLVMPHI:
  case LLVMSelect:
  case LLVMICmp:
  case LLVMFCmp:
  case LLVMGetElementPtr:
  case LLVMExtractElement:
  case LLVMInsertElement:
  case LLVMShuffleVector:
  case LLVMExtractValue:
  case LLVMInsertValue:
  case LLVMFreeze:
  case LLVMFNeg: return true;
  default: return LLVMIsABinaryOperator(i) || LLVMIsACastInst(i);
  }
}

bool cg_is_division(LLVMValueRef i) {
  LLVMOpcode op = LLVMGetInstructionOpcode(i);
  return op == LLVMUDiv || op == LLVMSDiv || op == LLVMURem || op == LLVMSRem;
}

bool cg_is_plain_access(LLVMValueRef i) {
  return !LLVMGetVolatile(i) && LLVMGetOrdering(i) == LLVMAtomicOrderingNotAtomic;
}
