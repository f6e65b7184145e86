/* Inlining: which functions stay calls. Private to this room. */
#ifndef PYPTX_CODEGEN_LOWER_INLINING_H
#define PYPTX_CODEGEN_LOWER_INLINING_H

#include "codegen/llvm/cg.h"

/* Sets Fn.inlining of the functions that stay calls to INLINE_NEVER. ERR_TOO_LARGE where those that
 * must be inlined are too much. */
void cg_choose_inlining(Cg *cg);

#endif
