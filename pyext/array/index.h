/* Index: what makes views of device arrays: indexing, reshaping, transposing, splitting. */
#ifndef PYPTX_PYEXT_ARRAY_INDEX_H
#define PYPTX_PYEXT_ARRAY_INDEX_H

#include "pyext/state.h"

PyObject *px_array_scalar(PyObject *view); /* the element of an array without axes, on the host */

PyObject *px_array_subscript(PyObject *self, PyObject *key);
int px_array_ass_subscript(PyObject *self, PyObject *key, PyObject *value);
PyObject *px_array_item(PyObject *self, Py_ssize_t i);
PyObject *px_array_reshape(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *px_array_ravel(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *px_array_transpose(PyObject *self, PyObject *args);
PyObject *px_array_squeeze(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *px_array_retype(PyObject *self, PyObject *dtype);
PyObject *px_array_split(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *px_array_bind(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *px_array_part(PyObject *self, void *imag); /* .real, and .imag where imag is not NULL */

#endif
