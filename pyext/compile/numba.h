/* Numba: objects of an installed Numba as pyptx's own, so that a program may keep `from numba
 * import njit, float32` beside `from pyptx import cuda`. Numba is never imported: an object is
 * Numba's if its class, or the module that defines it, says so. */
#ifndef PYPTX_PYEXT_COMPILE_NUMBA_H
#define PYPTX_PYEXT_COMPILE_NUMBA_H

#include "pyext/state.h"

/* What stands for `object` here: a type or signature of ours, the Python function of a compiled
 * one, an intrinsic of ours by its name; `object` itself if it is not Numba's or nothing does. New
 * reference; NULL with an exception for types that kernels do not have. */
PyObject *px_own(PxState *st, PyObject *object);

#endif
