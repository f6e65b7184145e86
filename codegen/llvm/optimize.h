/* Optimize: LLVM's passes over the module of a kernel. Private to this room. */
#ifndef PYPTX_CODEGEN_LLVM_OPTIMIZE_H
#define PYPTX_CODEGEN_LLVM_OPTIMIZE_H

#include "codegen/llvm/cg.h"

void cg_optimize_gpu(Cg *cg);
void cg_optimize_host(Cg *cg); /* after the loops over threads and blocks have been added */

/* The pipeline that simplifies a module before our own passes analyse it. */
const char *cg_cleaning(Cg *cg);

#endif
