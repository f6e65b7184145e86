/* Guards: what floor division adds to a CPU's division, as lowering (lower/divide.c) writes it. */
#ifndef PYPTX_CODEGEN_LLVM_GUARDS_H
#define PYPTX_CODEGEN_LLVM_GUARDS_H

#include "codegen/llvm/cg.h"

typedef struct DivisionGuard {
  LLVMValueRef choice; /* what is computed behind the branch only: a selection, or a bit extended */
  LLVMValueRef sum;    /* and its one user, which adds it to the result; NULL: none */
  LLVMValueRef often;  /* the value of the last of them elsewhere */
  LLVMValueRef seldom; /* when they are computed; NULL: where `divisor` is 0 or -1 */
  LLVMValueRef then;   /* the condition of the choice where `seldom` holds; NULL: as it is */
  LLVMValueRef divisor;
} DivisionGuard;

/* Is v the choice of one: a divisor that is 1 where it would be 0 or the quotient overflow, or the
 * correction of a remainder whose sign is not the divisor's? */
bool cg_find_guard(LLVMValueRef v, DivisionGuard *guard);
bool cg_is_guard(LLVMValueRef v);

#endif
