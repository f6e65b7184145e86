/* Bound launch: a launch whose arguments were read once, k[grid, block].bind(…). */
#ifndef PYPTX_PYEXT_LAUNCH_BOUND_LAUNCH_H
#define PYPTX_PYEXT_LAUNCH_BOUND_LAUNCH_H

#include "pyext/state.h"

PyObject *px_launcher_bind(PyObject *self, PyObject *const *argv, Py_ssize_t n, PyObject *kwnames);

#endif
