/* NVPTX shifts: what must be changed in the optimised module so that LLVM's code generator keeps the guards of 64-bit shifts. */
#ifndef PYPTX_CODEGEN_NVPTX_SHIFTS_H
#define PYPTX_CODEGEN_NVPTX_SHIFTS_H

#include "codegen/cg.h"

void cg_keep_shift_guards(Cg *cg);

#endif
