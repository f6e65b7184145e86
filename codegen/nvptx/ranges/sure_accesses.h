/* NVPTX sure accesses: what is accessed if a condition holds. */
#ifndef PYPTX_CODEGEN_NVPTX_RANGES_SURE_ACCESSES_H
#define PYPTX_CODEGEN_NVPTX_RANGES_SURE_ACCESSES_H

#include "codegen/llvm/cg.h"

/* Is the condition asked only whether to go where, without a check, an element is accessed whose
 * number is i, or its sum with a number of 32 bits? What happens there to an i of which no array
 * has an element is not defined. */
bool cg_nvptx_leads_to_element(Cg *cg, LLVMValueRef condition, LLVMValueRef i);

/* Does the block access element i of an array, without a check, so that i fits int32 there? */
bool cg_nvptx_is_element(Cg *cg, LLVMBasicBlockRef block, LLVMValueRef i);

#endif
