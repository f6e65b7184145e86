/* NVPTX prepare: what LLVM's code generator must be given, and told. Private to this room. */
#ifndef PYPTX_CODEGEN_NVPTX_PREPARE_H
#define PYPTX_CODEGEN_NVPTX_PREPARE_H

#include "codegen/llvm/cg.h"

/* Changes the optimised module so that the code generator keeps the guards of 64-bit shifts. */
void cg_nvptx_prepare(Cg *cg);
/* Has the module a function that the code generator's own optimisations would take too long for? */
bool cg_nvptx_is_long(const Cg *cg);

#endif
