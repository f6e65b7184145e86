/* Operators: arithmetic, comparisons and methods of device arrays that are written in Python, in
 * pyptx._array_operators. */
#ifndef PYPTX_PYEXT_ARRAY_OPERATORS_H
#define PYPTX_PYEXT_ARRAY_OPERATORS_H

#include "pyext/state.h"

#define UNARY(name, slot)   PyObject *px_array_##slot(PyObject *);
#define BINARY(name, slot)  PyObject *px_array_##slot(PyObject *, PyObject *);
#define INPLACE(name, slot) PyObject *px_array_##slot(PyObject *, PyObject *);
#define METHOD(name, doc)   PyObject *px_array_method_##name(PyObject *, PyObject *, PyObject *);
#include "pyext/array/operators.def"

PyObject *px_array_power(PyObject *a, PyObject *b, PyObject *modulus);
PyObject *px_array_inplace_power(PyObject *a, PyObject *b, PyObject *modulus);
PyObject *px_array_compare(PyObject *a, PyObject *b, int op);
Py_hash_t px_array_hash(PyObject *a); /* by identity, though == compares elements */
int px_array_truth(PyObject *a);
int px_array_contains(PyObject *a, PyObject *x);
/* The values, or the edges of many, with dtype and device; NULL with an exception where they cannot
 * be read. What kernels raised stays to be reported. */
PyObject *px_array_text(PyObject *a);

#endif
