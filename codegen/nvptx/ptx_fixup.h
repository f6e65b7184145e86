/* PTX fix-up: what LLVM writes rightly and ptxas compiles wrongly, written in another way. */
#ifndef PYPTX_CODEGEN_NVPTX_PTX_FIXUP_H
#define PYPTX_CODEGEN_NVPTX_PTX_FIXUP_H

#include <stdbool.h>

#include "ir/base/buf.h"

/* The text to hand out: ptx itself if nothing had to change, else a copy in the arena. *size is its
 * length, in and out. optimised: by LLVM. */
const char *cg_ptx_fixup(Arena *arena, const char *ptx, size_t *size, bool optimised);

#endif
