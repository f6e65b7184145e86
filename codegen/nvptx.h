/* NVPTX, between its files. Private to target_nvptx.c and libdevice.c. */
#ifndef PYPTX_CODEGEN_NVPTX_H
#define PYPTX_CODEGEN_NVPTX_H

#include "codegen/cg.h"

enum { NVPTX_GLOBAL = 1, NVPTX_SHARED = 3, NVPTX_CONSTANT = 4 }; /* address spaces; 0 is generic */

typedef struct NvptxState {
  LLVMValueRef dynamic, trap, grid_barrier; /* made when first needed */
  uint64_t constant_bytes;
  unsigned nglobals;
} NvptxState;

int cg_nvptx_arch_number(const Cg *cg); /* 90 for sm_90a */

#endif
