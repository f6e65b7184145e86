/* Inspect: what a dispatcher tells about its compiled kernels: the methods inspect_* and get_*. */
#ifndef PYPTX_PYEXT_COMPILE_INSPECT_H
#define PYPTX_PYEXT_COMPILE_INSPECT_H

#include "pyext/state.h"

PyObject *px_inspect_asm(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *px_inspect_llvm(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *px_inspect_ssa(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *px_inspect_types(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *px_advice(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *px_inspect_sass(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *px_report(PyObject *self, PyObject *args, PyObject *kwargs);
/* dict: types of the arguments → compiled kernel; its keys */
PyObject *px_get_overloads(PyObject *op, void *closure);
PyObject *px_get_signatures(PyObject *op, void *closure);
PyObject *px_get_regs(PyObject *self, PyObject *args);
PyObject *px_get_shared(PyObject *self, PyObject *args);
PyObject *px_get_const(PyObject *self, PyObject *args);
PyObject *px_get_local(PyObject *self, PyObject *args);
PyObject *px_get_max_threads(PyObject *self, PyObject *args);

#endif
