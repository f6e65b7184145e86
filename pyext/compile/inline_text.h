/* Errors of the assembler in text of cuda.inline_ptx, as errors of the line in Python. */
#ifndef PYPTX_PYEXT_COMPILE_INLINE_TEXT_H
#define PYPTX_PYEXT_COMPILE_INLINE_TEXT_H

#include "pyext/state.h"

/* log: what ptxas, or the driver's compiler, says of `ptx`. Raises PT411 at the kernel's line if a
 * line that it names is one of an inline text; else false, without an exception. */
bool px_raise_inline(PxState *st, const char *ptx, const char *log);

#endif
