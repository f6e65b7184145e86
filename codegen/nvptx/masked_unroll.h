/* NVPTX masked unrolling: loops of few iterations that load, eight iterations at once. */
#ifndef PYPTX_CODEGEN_NVPTX_MASKED_UNROLL_H
#define PYPTX_CODEGEN_NVPTX_MASKED_UNROLL_H

#include "codegen/llvm/cg.h"

/* Metadata on the back edge of a loop: LLVM unrolls it `count` times, or leaves it to
 * cg_nvptx_masked. */
void cg_mark_unrolled(LLVMContextRef c, LLVMValueRef branch, unsigned count);
void cg_mark_masked(LLVMContextRef c, LLVMValueRef branch);
/* LLVM unrolls it fully: by its trip count, or, if data may end it earlier, by `most` iterations
 * (0 otherwise). The second takes back all such marks that are left in the module. */
void cg_mark_whole(LLVMContextRef c, LLVMValueRef branch, unsigned most);
void cg_unmark_whole(Cg *cg);

/* Rewrites the marked loops of the optimised module, or what is left over of loops that LLVM has
 * unrolled by the metadata. True if some had another form: these are marked for LLVM's unrolling,
 * which the caller runs. */
bool cg_nvptx_masked(Cg *cg);
bool cg_nvptx_left_over(Cg *cg);

#endif
