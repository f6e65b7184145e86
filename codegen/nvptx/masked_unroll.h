/* Masked: loops of few rounds that read memory, eight rounds at once. Private to this room. */
#ifndef PYPTX_CODEGEN_NVPTX_MASKED_UNROLL_H
#define PYPTX_CODEGEN_NVPTX_MASKED_UNROLL_H

#include "codegen/llvm/cg.h"

/* Metadata of a loop's branch back: LLVM is to put `count` bodies in a row, or leave the loop to
 * cg_nvptx_masked. */
void cg_mark_unrolled(LLVMContextRef c, LLVMValueRef branch, unsigned count);
void cg_mark_masked(LLVMContextRef c, LLVMValueRef branch);

/* Rewrites the loops marked so in the optimised module; true if there are others, which are to be
 * unrolled now. */
bool cg_nvptx_masked(Cg *cg);

#endif
