/* Copy: instructions and blocks once more. Private to this room; the only place that clones. */
#ifndef PYPTX_CODEGEN_LLVM_COPY_H
#define PYPTX_CODEGEN_LLVM_COPY_H

#include "codegen/llvm/graph.h"

/* The instruction where the builder is, without a name. operands: NULL for those that stay. */
LLVMValueRef copy_ins(LLVMBuilderRef b, LLVMValueRef i, const LLVMValueRef *operands);

typedef struct RegionCopy {
  Cg *cg;
  ValueMap number; /* old instructions and blocks -> now */
  VEC(LLVMValueRef) now;
} RegionCopy;

/* Copies of the blocks, in front of `before`. What they name of each other is that of the copies;
 * all else is as it was, so phis of blocks outside have yet to be told of new edges. */
RegionCopy copy_region(Cg *cg, const LLVMBasicBlockRef *blocks, uint32_t n,
                       LLVMBasicBlockRef before, const char *name);
/* What has not been copied is its own copy. */
LLVMValueRef copy_of(const RegionCopy *r, LLVMValueRef old);
LLVMBasicBlockRef copy_of_block(const RegionCopy *r, LLVMBasicBlockRef old);

#endif
