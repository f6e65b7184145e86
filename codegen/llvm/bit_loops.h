/* Bit loops: loops that count bits become one instruction. Private to this room. */
#ifndef PYPTX_CODEGEN_LLVM_BIT_LOOPS_H
#define PYPTX_CODEGEN_LLVM_BIT_LOOPS_H

#include "codegen/llvm/cg.h"

/* Rewrites such loops of f; is there any? Blocks and values that nothing uses may be left. */
bool cg_count_bits(Cg *cg, LLVMValueRef f);

#endif
