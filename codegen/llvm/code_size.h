/* Code size: how much code a module has, which decides about passes that are too slow for long
 * functions. Private to this room. */
#ifndef PYPTX_CODEGEN_LLVM_CODE_SIZE_H
#define PYPTX_CODEGEN_LLVM_CODE_SIZE_H

#include "codegen/llvm/cg.h"

typedef struct Length { /* of one function */
  uint32_t instructions, blocks;
  uint32_t loops; /* natural loops */
  uint32_t loads; /* in loops */
  uint32_t exits; /* exiting blocks of the loop that has the most */
  bool forwards;  /* an innermost loop loads from an array that it stores to behind a condition */
} Length;

/* The greatest of each over the module's functions. */
Length cg_length(Cg *cg);

#endif
