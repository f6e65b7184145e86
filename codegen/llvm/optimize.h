/* Optimize: LLVM's passes over the module of a kernel. Private to this room. */
#ifndef PYPTX_CODEGEN_LLVM_OPTIMIZE_H
#define PYPTX_CODEGEN_LLVM_OPTIMIZE_H

#include "codegen/llvm/cg.h"

void cg_optimize_gpu(Cg *cg);
void cg_optimize_host(Cg *cg); /* its loops are there already */

/* The list of passes that make a module small and simple before our own passes look at it. */
const char *cg_cleaning(Cg *cg);

#endif
