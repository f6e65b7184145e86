/* Offline: compiling without a device, for the command line and for tools. */
#ifndef PYPTX_PYEXT_COMPILE_OFFLINE_H
#define PYPTX_PYEXT_COMPILE_OFFLINE_H

#include "pyext/state.h"

/* _pyptx._compile(function, signature, target, arch, ptx_version, options, want) -> dict
 *   function     a Dispatcher or a plain function
 *   signature    text: "float32[:], int32"
 *   target       "nvptx" or "host"
 *   arch         "sm_90"; None: the host's own
 *   ptx_version  90 for 9.0; 0: the lowest that arch allows
 *   options      dict of @cuda.jit's options, which go before those of the function's own decorator
 *   want         names of the texts wanted, separated by commas:
 *                ptx llvm llvm_opt ssa types asm cubin
 * The dict has the wanted texts (cubin: bytes), and symbol, result (text of a device function's
 * type, else None), static_shared, dynamic_shared, barrier, args (one (is_array, read, written) a
 * leaf), params ((kind, size, axis, leaf, offset) each), param_bytes, sites ((exception, message,
 * file, line, column) each) and timings ((pass, ms) each). Raises a CompileError. */
PyObject *px_compile_offline(PyObject *module, PyObject *args);

#endif
