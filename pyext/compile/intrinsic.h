/* Intrinsic: what pyptx.cuda offers inside kernels, as objects. On the host they have a doc and a
 * signature; calling one there is a TypeError. */
#ifndef PYPTX_PYEXT_COMPILE_INTRINSIC_H
#define PYPTX_PYEXT_COMPILE_INTRINSIC_H

#include "ir/intrinsics.h"
#include "pyext/state.h"

typedef struct PxIntrinsic {
  PyObject_HEAD IntrinsicId id;
  PyObject *members; /* dict of a namespace (cuda.atomic, cuda.threadIdx), else NULL */
  PyObject *weakrefs;
} PxIntrinsic;

/* Makes one object a row of intrinsics.def whose path starts with "cuda.", and the dict
 * _pyptx.intrinsics of the top-level names. */
int px_add_intrinsics(PxState *st, PyObject *module);

/* The intrinsic that a Python object stands for (math.sin, abs, range, cuda.grid), or INTR_NONE.
 * Never raises. */
IntrinsicId px_intrinsic_of(PxState *st, PyObject *object);

/* _pyptx._intrinsic(path) */
PyObject *px_find_intrinsic(PyObject *module, PyObject *path);

#endif
