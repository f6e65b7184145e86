/* Copy: elements of device arrays to and from the host, and from device to device. */
#ifndef PYPTX_PYEXT_ARRAY_COPY_H
#define PYPTX_PYEXT_ARRAY_COPY_H

#include "pyext/array/device_array.h"

PyObject *px_array_copy_to_host(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *px_array_copy_to_device(PyObject *self, PyObject *args, PyObject *kwargs);
bool px_is_masked(PyObject *array); /* a numpy.ma.MaskedArray */
PyObject *px_array_array(PyObject *self, PyObject *args, PyObject *kwargs);
/* A new NumPy array with the elements. stream: a Stream or None; the copy is complete when it
 * returns. */
PyObject *px_array_to_numpy(PxArray *a, PyObject *stream);
/* self[...] = value, as NumPy's assignment casts and broadcasts. 0 or -1. */
int px_array_assign(PxArray *a, PyObject *value, PyObject *stream);
PyObject *px_array_duplicate(PyObject *self, PyObject *memo);
PyObject *px_to_device(PyObject *module, PyObject *args, PyObject *kwargs);

#endif
