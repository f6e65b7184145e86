/* Optimize: LLVM's passes over the module of a GPU kernel. Private to this room. */
#ifndef PYPTX_CODEGEN_OPTIMIZE_H
#define PYPTX_CODEGEN_OPTIMIZE_H

#include "codegen/cg.h"

void cg_optimize_gpu(Cg *cg);

#endif
