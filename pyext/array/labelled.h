/* Labelled: arrays with labels, of pandas and xarray, as kernels take them. */
#ifndef PYPTX_PYEXT_ARRAY_LABELLED_H
#define PYPTX_PYEXT_ARRAY_LABELLED_H

#include "pyext/state.h"

/* By the class alone. */
bool px_is_of_pandas(PyObject *object); /* a Series, Index or DataFrame */
bool px_is_of_xarray(PyObject *object); /* a DataArray or Variable, which has an array as .data */
/* The elements of what is of pandas as a NumPy array, read-only where writing to it would not
 * change the object's. New reference, or NULL with an exception. */
PyObject *px_labelled_values(PxState *st, PyObject *object);
/* A value of jax.jit, vmap or grad, which stands for an array to come. */
bool px_is_tracer(PyObject *object);
/* An address of ctypes: a c_void_p, a pointer to something, or the x.ctypes of an array. */
bool px_is_c_address(PyObject *object);
#define PX_TRACER_HELP                                                                             \
  "a JAX tracer has no memory; call the kernel outside of jax.jit, or through jax.pure_callback "  \
  "or jax.ffi"

#endif
