/* DLPack, out: device arrays as tensors for other libraries. */
#ifndef PYPTX_PYEXT_ARRAY_DLPACK_EXPORT_H
#define PYPTX_PYEXT_ARRAY_DLPACK_EXPORT_H

#include "pyext/state.h"

PyObject *px_array_dlpack(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *px_array_dlpack_device(PyObject *self, PyObject *args);
/* Puts __dlpack_c_exchange_api__ on the type of device arrays. 0 or -1. */
int px_add_exchange(PyTypeObject *type);

#endif
