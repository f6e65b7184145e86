/* PTX fix-up: replaces instructions that are correct and that ptxas miscompiles. */
#ifndef PYPTX_CODEGEN_NVPTX_PTX_FIXUP_H
#define PYPTX_CODEGEN_NVPTX_PTX_FIXUP_H

#include <stdbool.h>

#include "ir/base/buf.h"

/* The corrected text: ptx itself if nothing had to change, else a copy in the arena. *size: the
 * length, in and out. optimised: LLVM's passes have run. */
const char *cg_ptx_fixup(Arena *arena, const char *ptx, size_t *size, bool optimised);

#endif
