/* What the GPU's assembler (ptxas, or the driver's compiler) says of a kernel, as errors and advice
 * of the lines in Python. */
#ifndef PYPTX_PYEXT_COMPILE_ASSEMBLER_LOG_H
#define PYPTX_PYEXT_COMPILE_ASSEMBLER_LOG_H

#include "pyext/state.h"

/* Raises what the log of `ptx` says of a line of cuda.inline_ptx (PT411) or of cuda.wgmma.mma
 * (PT413, PT414); else false, without an exception. */
bool px_raise_assembler_log(PxState *st, const char *ptx, const char *log);
/* Appends to the list what it says of code that works nevertheless: PT808 and PT809. 0 or -1. */
int px_add_assembler_advice(PxState *st, const char *ptx, const char *log, PyObject *list);
/* Appends to the list the local arrays of `ptx` whose indices vary and which so many bytes of local
 * memory can hold: PT810, each place once. 0 or -1. */
int px_add_local_advice(PxState *st, const char *ptx, uint32_t local, PyObject *list);

#endif
