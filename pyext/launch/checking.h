/* Checking: launches within cuda.checking, which run a checked variant of their kernel. */
#ifndef PYPTX_PYEXT_LAUNCH_CHECKING_H
#define PYPTX_PYEXT_LAUNCH_CHECKING_H

#include <stdatomic.h>

#include "pyext/state.h"

/* How many threads are in such a block. */
extern _Atomic uint32_t px_checking_threads;
bool px_checking_here(void);
static inline bool px_is_checking(void) {
  return atomic_load_explicit(&px_checking_threads, memory_order_relaxed) && px_checking_here();
}
PyObject *px_launch_checked(PyObject *launcher, PyObject *const *argv, Py_ssize_t n,
                            PyObject *kwnames);

extern PyMethodDef px_checking_functions[];

#endif
