/* Match: what an LLVM value is. Private to this room. */
#ifndef PYPTX_CODEGEN_LLVM_MATCH_H
#define PYPTX_CODEGEN_LLVM_MATCH_H

#include "codegen/llvm/cg.h"

static inline bool is_op(LLVMValueRef v, LLVMOpcode op) {
  return LLVMIsAInstruction(v) && LLVMGetInstructionOpcode(v) == op;
}
static inline bool is_extension(LLVMValueRef v) { return LLVMIsAZExtInst(v) || LLVMIsASExtInst(v); }

/* What is below its extensions. */
static inline LLVMValueRef peel(LLVMValueRef v) {
  while (is_extension(v))
    v = LLVMGetOperand(v, 0);
  return v;
}

/* A direct call of the function of that name. */
bool cg_is_call_of(LLVMValueRef i, const char *name);
/* Of a load or store: neither volatile nor atomic. */
bool cg_is_plain_access(LLVMValueRef i);
/* Does its result depend on its operands alone, and does it nothing else? What is not known here does not. */
bool cg_only_computes(LLVMValueRef i);
/* Of integers; a remainder too. */
bool cg_is_division(LLVMValueRef i);

#endif
