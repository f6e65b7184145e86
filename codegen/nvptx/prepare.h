/* NVPTX prepare: last changes before LLVM's code generator, and which one to use. */
#ifndef PYPTX_CODEGEN_NVPTX_PREPARE_H
#define PYPTX_CODEGEN_NVPTX_PREPARE_H

#include "codegen/llvm/cg.h"

/* Works around a bug of the code generator, and rewrites a form that ptxas compiles badly. */
void cg_nvptx_prepare(Cg *cg);
/* shifts.c: rewrites a shift, or what is made of one; false: it is something else. */
bool cg_nvptx_prepare_shift(Cg *cg, LLVMValueRef i);
/* Has the module a function on which the code generator's optimisations would take too long? */
bool cg_nvptx_is_long(const Cg *cg);
/* The same of a module whose functions are so many times as long. */
bool cg_nvptx_would_be_long(const Cg *cg, unsigned times);

#endif
