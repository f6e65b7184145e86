/* Flow: questions about LLVM's functions that several files of this room ask. */
#ifndef PYPTX_CODEGEN_LLVM_BLOCK_ORDER_H
#define PYPTX_CODEGEN_LLVM_BLOCK_ORDER_H

#include "codegen/llvm/cg.h"

typedef VEC(LLVMBasicBlockRef) Blocks;

/* Reached blocks in reverse post-order, so that what dominates comes first. */
Blocks cg_blocks_in_order(Arena *arena, LLVMValueRef f);
/* Of a load or store: neither volatile nor atomic. */
bool cg_is_plain_access(LLVMValueRef i);
/* Does its result hang on its operands alone, and does it nothing else? What is not known here does not. */
bool cg_only_computes(LLVMValueRef i);
/* Of integers; a remainder too. */
bool cg_is_division(LLVMValueRef i);

#endif
