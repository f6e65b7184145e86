/* Length: how much code a module has, which decides what is left out for long functions. Private to
 * this room. */
#ifndef PYPTX_CODEGEN_LLVM_CODE_SIZE_H
#define PYPTX_CODEGEN_LLVM_CODE_SIZE_H

#include "codegen/llvm/cg.h"

/* Of one function. */
typedef struct Length {
  uint32_t instructions, blocks;
  uint32_t loops; /* natural loops: blocks with a way back to them */
  uint32_t loads; /* in loops */
  uint32_t exits; /* blocks of one loop from which it is left, of the loop with the most */
} Length;

/* The greatest of each over the module's functions. */
Length cg_length(Cg *cg);

#endif
