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

/* --- the global index: blockIdx * blockDim + threadIdx --- */

typedef struct Registers {                     /* how special registers are read here */
  int (*of)(const void *user, LLVMValueRef v); /* the SpecialReg that v is, else -1 */
  const void *user;
  bool
      exact; /* sums count only where neither kind of wrapping is possible: those can be widened term by term */
} Registers;

/* 1 + axis of such a sum; else 0. Extensions of the terms are seen through. */
unsigned match_global_index(const Registers *r, LLVMValueRef v);
/* Is v, a term of such sums along the axis, used in them alone? */
bool match_only_in_sums(const Registers *r, LLVMValueRef v, unsigned axis);

/* --- instructions --- */

/* A direct call of the function of that name. */
bool cg_is_call_of(LLVMValueRef i, const char *name);
/* Of a load or store: neither volatile nor atomic. */
bool cg_is_plain_access(LLVMValueRef i);
/* Does its result depend on its operands alone, and does it nothing else? What is not known here
 * does not. */
bool cg_only_computes(LLVMValueRef i);
/* Of integers; a remainder too. */
bool cg_is_division(LLVMValueRef i);

#endif
