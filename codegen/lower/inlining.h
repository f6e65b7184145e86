/* Inlining: which functions are not inlined. Private to this room. */
#ifndef PYPTX_CODEGEN_LOWER_INLINING_H
#define PYPTX_CODEGEN_LOWER_INLINING_H

#include "codegen/llvm/cg.h"

/* Sets Fn.inlining of the functions that are not to be inlined to INLINE_NEVER. ERR_TOO_LARGE if
 * those that must be inlined would make a function too long. */
void cg_choose_inlining(Cg *cg);

#endif
